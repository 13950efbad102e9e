// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

// ibanAt judges the digit s[d], the first of its run: an IBAN is found from its
// check digits. A pending or found value starts at start; n is the number of
// its characters read, separators left out.
func ibanAt(s string, d int, ended bool) (start, end, n int, v verdict) {
	start = countryBefore(s, d)
	if start < 0 {
		return 0, 0, 0, absent
	}
	end, n, v = readIBAN(s, start, ended)
	return start, end, n, v
}

// countryBefore is the position of the country code that s[d] may be a check
// digit of, or -1.
func countryBefore(s string, d int) int {
	k := d
	for k >= 2 && d-k <= maxGap {
		if isLetter(s[k-1]) && isLetter(s[k-2]) {
			if countries[countryIndex(s[k-2], s[k-1])] != "" && startsWord(s, k-2) {
				return k - 2
			}
			return -1
		}
		next := gapBefore(s, k)
		if next == k {
			return -1
		}
		k = next
	}
	return -1
}

// startsWord reports whether no letter or digit touches s[i] from the left. The
// end of an escape is no such letter, nor is the word IBAN.
func startsWord(s string, i int) bool {
	return i == 0 || !isAlnum(s[i-1]) || followsEscape(s, i)
}

func followsEscape(s string, i int) bool {
	c := s[i-1]
	if i >= 2 && s[i-2] == '\\' && (c == 'n' || c == 'r' || c == 't') {
		return true
	}
	if i >= 3 && s[i-3] == '%' && hexRune(s, i-2, 2) >= 0 {
		return true
	}
	if i >= 6 && s[i-6] == '\\' && s[i-5] == 'u' && hexRune(s, i-4, 4) >= 0 {
		return true
	}
	if controlEnd(s, i-1) == i {
		return true
	}
	return i >= 4 && s[i-4]|0x20 == 'i' && s[i-3]|0x20 == 'b' && s[i-2]|0x20 == 'a' && c|0x20 == 'n' &&
		(i == 4 || !isAlnum(s[i-5]))
}

// readIBAN reads the IBAN whose country code is at s[start]. The country fixes
// the length, so nothing that follows can be taken for a part of it.
func readIBAN(s string, start int, ended bool) (end, n int, v verdict) {
	structure := countries[countryIndex(s[start], s[start+1])]
	var compact [maxIBAN]byte
	compact[0], compact[1] = s[start]&^0x20, s[start+1]&^0x20
	length := len(structure) + 4
	end, n = start+2, 2
	gaps := 0
	for pos := end; n < length; {
		if pos == len(s) {
			return end, n, undecided(ended)
		}
		c := s[pos]
		if k := class[c] & alnum; k != 0 {
			want := byte('n')
			if n >= 4 {
				want = structure[n-4]
			}
			if want == 'n' && k != digit || want == 'a' && k != letter {
				return end, n, absent
			}
			if k == letter {
				c &^= 0x20
			}
			compact[n] = c
			n++
			pos++
			end = pos
			continue
		}
		if c == ' ' && pos+1 < len(s) && isAlnum(s[pos+1]) {
			pos++ // by far the most frequent gap
			gaps++
			continue
		}
		next, v := gapAfter(s, pos, ended)
		if v != found {
			return end, n, v
		}
		if gaps += next - pos; gaps > maxGaps {
			return end, n, absent
		}
		pos = next
	}
	if value := compact[:n]; mod97(value) != 1 || isVATWithSIRET(value) {
		return end, n, absent
	}
	if end == len(s) && !ended {
		return end, n, pending
	}
	if end < len(s) && isAlnum(s[end]) {
		return end, n, absent
	}
	return end, n, found
}

func undecided(ended bool) verdict {
	if ended {
		return absent
	}
	return pending
}

// mod97 is the remainder of ISO 7064 over an upper-case IBAN without separators;
// 1 for a valid one.
func mod97(iban []byte) uint32 {
	var m uint32
	for i := range iban {
		// The first four characters count last.
		c := iban[(i+4)%len(iban)]
		if isDigit(c) {
			m = m*10 + uint32(c-'0')
		} else {
			m = m*100 + uint32(c-'A') + 10
		}
		if m >= 1<<24 {
			m %= 97
		}
	}
	return m % 97
}

// isVATWithSIRET recognises a French VAT number followed by the SIRET of the
// same company: together they have the length and the structure of an IBAN, and
// one pair in 97 has its check digits too. Both are public and never masked.
func isVATWithSIRET(iban []byte) bool {
	return iban[0] == 'F' && iban[1] == 'R' && string(iban[4:13]) == string(iban[13:22])
}

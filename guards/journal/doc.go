// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package journal makes a file of JSON lines into evidence and reads it again, as the lines
// of package line. It knows no ADK.
//
// Every line ends with its number and the hash of the line before it:
//
//	{"kind":"tool", … ,"seq":7,"prev":"9f86d081884c7d65…"}
//
// prev is the lower-case hexadecimal SHA-256 of the bytes of the line before, without
// its line feed; before the first line it is 64 zeros. The journal itself writes four
// kinds of line:
//
//	open   the first line, and the first after each opening: ts, format, and where the
//	       line before was no closing record recovered, with torn, the bytes of a torn
//	       last line that were dropped
//	lost   lines, how many could not be written before this one
//	close  the last line: ts, lost (in all since it was opened), continues where another
//	       file follows, and sum, the SHA-256 of its own bytes before ,"sum"
//
// [Verify] finds every line that was edited, removed, inserted or moved and a journal
// that was cut. What a chain can't show by itself is a forger who writes everything
// after some point anew, or cuts a journal right after an earlier closing record: for
// that, keep the [Head] somewhere else and hand it to Verify.
package journal

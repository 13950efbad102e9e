// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gardefou/gardefou/internal/text"
)

// A cutter cuts texts and lists that are longer than level characters to it.
type cutter struct {
	level int
	lang  text.Lang
	lists []string
	more  int
}

// maxToldLists is how many lists a shortened result names.
const maxToldLists = 3

// cut returns v cut, and its length as JSON.
func (c *cutter) cut(path string, v any) (cut any, size int) {
	switch v := v.(type) {
	case string:
		s := c.text(v)
		return s, jsonLen(s)
	case map[string]any:
		out := make(map[string]any, len(v))
		size = 2 + max(0, len(v)-1)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			inner, n := c.cut(join(path, key), v[key])
			out[key] = inner
			size += jsonLen(key) + 1 + n
		}
		return out, size
	case []any:
		return c.list(path, v)
	default:
		return v, jsonLen(v)
	}
}

// join writes where in a result something is; very deep places are not told apart.
func join(path, key string) string {
	switch {
	case path == "":
		return key
	case len(path) > 100:
		return path
	default:
		return path + "." + key
	}
}

func (c *cutter) list(path string, v []any) (cut []any, size int) {
	out := make([]any, 0, len(v))
	size = 2
	for i, e := range v {
		told, more := len(c.lists), c.more
		inner, n := c.cut(path, e)
		if i > 0 {
			n++ // the comma
		}
		if size+n > c.level {
			c.lists, c.more = c.lists[:told], more // what is left out is not told of in detail
			break
		}
		size += n
		out = append(out, inner)
	}
	if left := len(v) - len(out); left > 0 {
		if len(c.lists) < maxToldLists {
			c.lists = append(c.lists, text.Get(c.lang, text.CutItems, cutTo(path, 40), left, len(v)))
		} else {
			c.more++
		}
	}
	return out, size
}

// text cuts between whole characters: not inside a letter and its accents, nor inside
// what joins several signs to one.
func (c *cutter) text(s string) string {
	if jsonLen(s) <= c.level {
		return s
	}
	runes := []rune(s)
	end, size := 0, 0
	for end < len(runes) && size < c.level {
		size += runeLen(runes[end])
		end++
	}
	for end > 0 && end < len(runes) && (joins(runes[end]) || joins(runes[end-1]) && runes[end-1] == zeroWidthJoiner || inPair(runes, end)) {
		end--
	}
	cut := string(runes[:end]) + text.Get(c.lang, text.CutText, len(runes)-end)
	if jsonLen(cut) >= jsonLen(s) {
		return s
	}
	return cut
}

const zeroWidthJoiner = '\u200d'

// joins reports whether a rune belongs to the one before it.
func joins(r rune) bool {
	return unicode.In(r, unicode.Mn, unicode.Mc, unicode.Me) || r == zeroWidthJoiner || r >= 0x1f3fb && r <= 0x1f3ff
}

// inPair reports whether end lies between the two halves of a flag.
func inPair(runes []rune, end int) bool {
	flag := func(i int) bool { return i >= 0 && i < len(runes) && runes[i] >= 0x1f1e6 && runes[i] <= 0x1f1ff }
	if !flag(end) {
		return false
	}
	n := 0
	for i := end - 1; flag(i); i-- {
		n++
	}
	return n%2 == 1
}

// freeKey is where to say something without overwriting anything.
func freeKey(key string, whole map[string]any) string {
	for {
		if _, taken := whole[key]; !taken {
			return key
		}
		key = "_" + key
	}
}

func (c *cutter) said() string {
	said := strings.Join(c.lists, "; ")
	if c.more > 0 {
		said += fmt.Sprintf("; +%d", c.more)
	}
	return said
}

// plainJSON returns v as JSON has it: maps, lists, texts, numbers, booleans and nil,
// nothing JSON can't hold, and whether anything had to be changed for it. What it
// returns may share what was plain already.
func plainJSON(v any) (plain any, changed bool) {
	switch v := v.(type) {
	case nil, bool, int, int32, int64, json.Number:
		return v, false
	case string:
		if utf8.ValidString(v) {
			return v, false
		}
		return strings.ToValidUTF8(v, "\ufffd"), true
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return strconv.FormatFloat(v, 'g', -1, 64), true
		}
		return v, false
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, e := range v {
			p, did := plainJSON(e)
			changed = changed || did
			out[key] = p
		}
		return out, changed
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			p, did := plainJSON(e)
			changed = changed || did
			out[i] = p
		}
		return out, changed
	default:
		return foreignJSON(v)
	}
}

func foreignJSON(v any) (plain any, changed bool) {
	enc, err := json.Marshal(v)
	if err != nil {
		return unencodable(v), true
	}
	if err := json.Unmarshal(enc, &plain); err != nil {
		return string(enc), true
	}
	return plain, false
}

// jsonLen is the length of a plain value as JSON, in characters.
func jsonLen(v any) int {
	switch v := v.(type) {
	case string:
		n := 2
		for _, r := range v {
			n += runeLen(r)
		}
		return n
	case map[string]any:
		n := 2 + max(0, len(v)-1)
		for key, e := range v {
			n += jsonLen(key) + 1 + jsonLen(e)
		}
		return n
	case []any:
		n := 2 + max(0, len(v)-1)
		for _, e := range v {
			n += jsonLen(e)
		}
		return n
	default:
		enc, err := json.Marshal(v)
		if err != nil {
			return len(unencodable(v))
		}
		return len(enc)
	}
}

// runeLen is how many characters JSON takes for one.
func runeLen(r rune) int {
	switch {
	case r == '"' || r == '\\' || r == '\n' || r == '\r' || r == '\t' || r == '\b' || r == '\f':
		return 2
	case r < 0x20 || r == '\u2028' || r == '\u2029':
		return 6
	default:
		return 1
	}
}

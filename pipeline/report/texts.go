// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gardefou/gardefou/pipeline/risk"
)

// Lang is the language of a written report.
type Lang string

// The languages.
const (
	English Lang = "en"
	French  Lang = "fr"
)

//go:embed texts
var textFiles embed.FS

// catalogue is the texts by language and key.
var catalogue = func() map[Lang]map[string]string {
	all := map[Lang]map[string]string{}
	for _, l := range []Lang{English, French} {
		data, err := textFiles.ReadFile("texts/" + string(l) + ".json")
		if err != nil {
			panic(err) // embedded
		}
		texts := map[string]string{}
		if err := json.Unmarshal(data, &texts); err != nil {
			panic(err) // the embedded file is part of the program
		}
		all[l] = texts
	}
	return all
}()

// texts writes words, dates and figures in one language. Any language but
// French is English.
type texts struct{ lang Lang }

// say returns a text with its {placeholders} filled from name and value pairs.
// Values are put in as they are: escaping is the output format's. A key that the
// catalogue lacks is shown as itself, so that a new code stays readable.
func (t texts) say(key string, pairs ...string) string {
	text, ok := catalogue[t.language()][key]
	if !ok {
		return key[strings.LastIndexByte(key, '.')+1:]
	}
	if len(pairs) == 0 {
		return text
	}
	return strings.NewReplacer(braced(pairs)...).Replace(text)
}

func braced(pairs []string) []string {
	out := make([]string, len(pairs))
	for i, p := range pairs {
		out[i] = p
		if i%2 == 0 {
			out[i] = "{" + p + "}"
		}
	}
	return out
}

func (t texts) language() Lang {
	if t.lang == French {
		return French
	}
	return English
}

// date writes an ISO date the way the language does; what is no date stays as
// it is.
func (t texts) date(iso string) string {
	d, err := time.Parse(time.DateOnly, iso)
	if err != nil {
		return iso
	}
	if t.language() == French {
		return d.Format("02/01/2006")
	}
	return d.Format("2 January 2006")
}

// narrow no-break space: what French typography puts between thousands.
const narrowSpace = "\u202f"

// money writes whole euros.
func (t texts) money(euros int64) string {
	if t.language() == French {
		return group(euros, narrowSpace) + "\u00a0€"
	}
	if euros < 0 {
		return "-€" + group(-euros, ",")
	}
	return "€" + group(euros, ",")
}

func group(n int64, sep string) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + sep + s[i:]
	}
	return sign + s
}

// decimal writes a number with the language's decimal mark.
func (t texts) decimal(s string) string {
	if t.language() == French {
		return strings.Replace(s, ".", ",", 1)
	}
	return s
}

func (t texts) number(f *float64, unit string) string {
	if f == nil {
		return t.say("not_declared")
	}
	return t.decimal(strconv.FormatFloat(*f, 'f', -1, 64)) + unit
}

func (t texts) amount(n *int64) string {
	if n == nil {
		return t.say("not_declared")
	}
	return t.money(*n)
}

func (t texts) tenths(x *risk.Tenths) string {
	if x == nil {
		return t.say("no_figure")
	}
	return t.decimal(x.String())
}

func (t texts) siren(s string) string {
	if len(s) != 9 {
		return s
	}
	return fmt.Sprintf("%s\u00a0%s\u00a0%s", s[:3], s[3:6], s[6:])
}

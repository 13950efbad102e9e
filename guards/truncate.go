// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"encoding/json"
	"fmt"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
)

// defaultResultCharacters is how long a result may be under [Truncate].
const defaultResultCharacters = 4000

// minResultCharacters leaves room for the words that say what is missing.
const minResultCharacters = 200

// TruncatedKey is the key under which a shortened result says what was left out.
const TruncatedKey = "truncated"

// TruncateOptions are the options of [Truncate].
type TruncateOptions struct {
	// Characters is how long a result may be, written as JSON. Zero means 4,000; less
	// than 200 otherwise is an error.
	Characters int
	// Keep saves the whole result as an artifact, named as the result then says under
	// "whole". Where it can't be saved, the result says nothing of it.
	Keep bool
}

// Truncate shortens what a tool returns: every character of it is sent again with every
// later turn. The result stays valid JSON of the same shape: objects keep their keys,
// the longest texts and lists are cut first, texts between whole characters and with
// the number of those left out at their end, lists between entries. What was left out
// of lists stands under "truncated". Only where an object has too many keys by itself
// does a sentence take its place.
//
// Put it after whatever keeps or checks whole results, Redact and Stash above all. It
// fails closed in that no result passes that is too long.
//
// Use it when a tool may return more than a model should read; use [Window] where the history
// as a whole grows.
func Truncate() callbacks.Guard { return TruncateOptions{}.Guard() }

// Guard returns the guard that [Truncate] describes, with these options.
func (o TruncateOptions) Guard() callbacks.Guard {
	g := callbacks.Guard{Name: "truncate"}
	if o.Characters == 0 {
		o.Characters = defaultResultCharacters
	}
	if o.Characters < minResultCharacters {
		g.Err = fmt.Errorf("guards: Truncate: %d characters, at least %d are needed", o.Characters, minResultCharacters)
	}
	g.AfterTool = func(ctx agent.Context, t tool.Tool, _, result map[string]any, err error) (map[string]any, error) {
		if err != nil || result == nil {
			return nil, nil
		}
		cut, did := shorten(result, o.Characters, langOf(contextOf(ctx)))
		if !did {
			return nil, nil
		}
		if o.Keep {
			if name := keepWhole(ctx, t.Name(), result); name != "" {
				cut, _ = shorten(result, o.Characters-len(name)-len(`"_whole":"",`), langOf(contextOf(ctx)))
				cut[freeKey("whole", result)] = name
			}
		}
		// The hooks after this one see the copy, as they would see any change.
		clear(result)
		for k, v := range cut {
			result[k] = v
		}
		return nil, nil
	}
	g.Info = func() callbacks.Info {
		return callbacks.Info{Limits: []string{fmt.Sprintf("%d characters per result", o.Characters)}, After: []string{redactName, "stash", "scope"}}
	}
	return g
}

// keepWhole saves a result as an artifact and returns its name, or "".
func keepWhole(ctx agent.Context, toolName string, result map[string]any) string {
	if ctx == nil || ctx.Artifacts() == nil {
		return ""
	}
	if tooDeep(result) {
		return ""
	}
	whole, _ := plainJSON(result)
	enc, err := json.MarshalIndent(whole, "", " ")
	if err != nil {
		return ""
	}
	name := toolName + "-" + fingerprint(ctx.InvocationID(), ctx.Branch(), ctx.FunctionCallID())[:12] + ".json"
	if _, err := ctx.Artifacts().Save(ctx, name, genai.NewPartFromBytes(enc, "application/json")); err != nil {
		return ""
	}
	return name
}

// shorten returns a copy of result that has at most limit characters as JSON; did is
// false where the result has no more anyway and may stay.
func shorten(result map[string]any, limit int, lang text.Lang) (cut map[string]any, did bool) {
	if tooDeep(result) {
		return map[string]any{TruncatedKey: text.Get(lang, text.CutDeep)}, true
	}
	plain, changed := plainJSON(result)
	whole, _ := plain.(map[string]any)
	size := jsonLen(whole)
	if size <= limit {
		return whole, changed
	}
	// The longest first: find the greatest length to which everything that is longer
	// can be cut. What fits at one length fits at any smaller one, near enough; that
	// it does fit is checked.
	var best map[string]any
	for low, high := 0, limit; low <= high; {
		level := (low + high) / 2
		c := &cutter{level: level, lang: lang}
		v, _ := c.cut("", whole)
		got, _ := v.(map[string]any)
		if len(c.lists) > 0 {
			got[freeKey(TruncatedKey, whole)] = c.said()
		}
		if jsonLen(got) <= limit {
			best, low = got, level+1
		} else {
			high = level - 1
		}
	}
	if best == nil {
		best = map[string]any{TruncatedKey: text.Get(lang, text.CutWhole, size)}
	}
	return best, true
}

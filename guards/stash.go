// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"errors"
	"maps"
	"strings"
	"sync"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
)

// StashKey is what comes before the name in the state keys [Stash] writes.
const StashKey = "data_"

var stashKey = callbacks.NewKey(func() *stash { return &stash{data: make(map[string]map[string]any)} })

type stash struct {
	mu   sync.Mutex
	data map[string]map[string]any
}

// Stashed returns what [Stash] kept in ctx's Run: by name, without the "data_".
// The maps are the caller's; what hangs below must not be changed.
func (r RunRecords) Stashed() map[string]map[string]any {
	s := stashKey.In(r.run)
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string]map[string]any, len(s.data))
	for k, v := range s.data {
		out[k] = maps.Clone(v)
	}
	return out
}

// Stash keeps the whole structured result of each tool whose name begins with
// prefix, under "data_" and the rest of the name, or the whole name where nothing is left: in session state, for other
// agents and for people to see, and in the Run, for code that decides: state can be
// forged by whoever can write to the session.
//
// A refused or failed call never overwrites a good one. Stash must stand after
// Redact, so that it sees masked data, and before anything that shortens results.
// It fails open: a state that can't be written, or a result that holds itself, does not
// refuse the call.
//
// Use it when code or another agent reads what a tool returned; leave it out where the model's
// answer is all that counts.
func Stash(prefix string) callbacks.Guard {
	g := callbacks.Guard{
		Name: "stash",
		AfterTool: func(ctx agent.Context, t tool.Tool, _, result map[string]any, err error) (map[string]any, error) {
			name, ok := strings.CutPrefix(t.Name(), prefix)
			if !ok || !succeeded(result, err) || tooDeep(result) {
				return nil, nil
			}
			if name == "" {
				name = t.Name()
			}
			// The top level is the chain's copy and later hooks may change it; what hangs
			// below is replaced by them, never changed.
			kept := maps.Clone(result)
			s := stashKey.Of(contextOf(ctx))
			s.mu.Lock()
			s.data[name] = kept
			s.mu.Unlock()
			if ctx != nil {
				// ADK merges state of parallel calls in place: it gets its own copy.
				_ = ctx.State().Set(StashKey+name, cloneJSON(result))
			}
			return nil, nil
		},
		Info: func() callbacks.Info {
			return callbacks.Info{OnlyJudges: true, Limits: []string{"tools " + prefix + "* to " + StashKey + "*"}, After: []string{redactName}, Fails: "open"}
		},
	}
	if prefix == "" {
		g.Err = errors.New("guards: Stash without a prefix")
	}
	return g
}

// cloneObject copies a JSON-like object, so that whoever gets the copy can't change the
// original.
func cloneObject(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = cloneJSON(v)
	}
	return out
}

// cloneJSON copies the maps and slices of a JSON-like value.
func cloneJSON(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return cloneObject(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = cloneJSON(e)
		}
		return out
	default:
		return v
	}
}

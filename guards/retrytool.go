// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gardefou/gardefou/callbacks/codes"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/internal/toolschema"
)

// toolFailures counts the failures in a row of each tool, for each agent at work.
type toolFailures struct {
	most int
	key  *callbacks.PlaceKey[*failures]
}

type failures struct {
	mu    sync.Mutex
	inRow map[string]int // by tool
}

func newFailures() *failures { return &failures{inRow: make(map[string]int)} }

// refuse returns why a tool must not be called again, or nil.
func (f *toolFailures) refuse(ctx agent.Context, name string) error {
	r := f.key.At(contextOf(ctx), callbacks.PlaceOf(ctx))
	r.mu.Lock()
	n := r.inRow[name]
	r.mu.Unlock()
	if n < f.most {
		return nil
	}
	return callbacks.Deny(codes.ToolExhausted, say(ctx, text.RetryExhausted, name)).WithDetail(fmt.Sprintf("%s: failed %d times in a row", name, n))
}

// reflect tells the model that it may try again. The text is the same each time, so that
// a loop of failing calls is still seen to be one.
func (f *toolFailures) reflect(ctx agent.Context, t tool.Tool, args map[string]any, err error) (map[string]any, error) {
	if unknownTool(t) || decided(err) {
		return nil, nil
	}
	r := f.key.At(contextOf(ctx), callbacks.PlaceOf(ctx))
	r.mu.Lock()
	r.inRow[t.Name()]++
	r.mu.Unlock()
	var safe interface{ ModelText() string }
	if errors.As(err, &safe) || toolschema.Missing(t, args) != "" {
		return nil, nil // the chain has a text for these
	}
	return map[string]any{"error": say(ctx, text.RetryTool, t.Name())}, nil
}

// observe forgets the failures of a tool that went well, and those of an agent that ended.
func (f *toolFailures) observe(ctx context.Context, ev callbacks.Event) {
	forgetting(f.key)(ctx, ev)
	if ev.Step != callbacks.StepTool || ev.Outcome != callbacks.OutcomeAllowed && (ev.Outcome != callbacks.OutcomeReplaced || ev.Err != nil) {
		return
	}
	r := f.key.At(ctx, ev.Place())
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.inRow, ev.Tool)
}

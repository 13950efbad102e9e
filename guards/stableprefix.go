// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"unicode/utf8"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/journal/line"
)

// The parts of a prompt that [StablePrefix] compares.
const (
	PrefixInstruction = "instruction"
	PrefixTools       = "tools"
)

// A PrefixChange says where an agent's prompt began to differ from the one before.
type PrefixChange struct {
	Agent, Branch string
	// Call is the model call of the agent in which it changed, from 2 on.
	Call int
	// Part is PrefixInstruction or PrefixTools; of two changes the first in the prompt is
	// told.
	Part string
	// Tool is the first tool that differs, as it is now; empty where it was taken away.
	Tool string
	// At is the byte of the instruction, or of the tool's declaration as JSON, at which they
	// part; Before and After are what stands there, at most 40 characters.
	At            int
	Before, After string
}

// StablePrefixOptions are the options of [StablePrefix].
type StablePrefixOptions struct {
	// OnChange is told of each change, in the agent's own goroutine. Nil tells nobody, but
	// [RunRecords.PrefixChanges] and the journal.
	OnChange func(context.Context, PrefixChange)
}

// StablePrefix reports when an agent's instruction or tool declarations change inside a
// run: a clock in the instruction, a map written in another order. Providers keep what
// comes first in a prompt and charge a fraction for it as long as it stays the same to the
// byte. [RunRecords.PrefixChanges] has the changes, and the journal a line for each.
//
// It only looks, and sees what the guards before it made of a request: put it last. A
// landing that takes the tools away is reported too. Each agent is compared with itself
// in one invocation;
// it does not see the provider's cache, nor a change of model. It fails open.
//
// Use it when a provider caches prompts and the bill says that it does not; leave it out
// otherwise.
func StablePrefix() callbacks.Guard { return StablePrefixOptions{}.Guard() }

// Guard returns the guard that [StablePrefix] describes, with these options.
func (o StablePrefixOptions) Guard() callbacks.Guard {
	return callbacks.Guard{
		Name: "stable_prefix",
		BeforeModel: func(ctx agent.Context, req *model.LLMRequest) (*model.LLMResponse, error) {
			plain, p := contextOf(ctx), callbacks.PlaceOf(ctx)
			if c, changed := promptsKey.At(plain, p).compare(p, prefixOf(req.Config)); changed {
				prefixChangesKey.Of(plain).add(c)
				journalledKey.Of(plain).add(c.line)
				if o.OnChange != nil {
					o.OnChange(plain, c)
				}
			}
			return nil, nil
		},
		Info: func() callbacks.Info { return callbacks.Info{Fails: "open"} },
	}
}

// PrefixChanges returns the changes that [StablePrefix] saw in ctx's Run so far.
func (r RunRecords) PrefixChanges() []PrefixChange { return prefixChangesKey.In(r.run).list() }

var (
	prefixChangesKey = callbacks.NewKey(func() *records[PrefixChange] { return &records[PrefixChange]{} })
	promptsKey       = callbacks.NewPlaceKey(func() *prompts { return &prompts{} }).Lasting()
)

// prompts are those of one agent.
type prompts struct {
	mu   sync.Mutex
	last *prefix
}

type prefix struct {
	calls       int
	instruction string
	tools       []declared
}

type declared struct{ name, json string }

func prefixOf(cfg *genai.GenerateContentConfig) *prefix {
	p := &prefix{}
	if cfg == nil {
		return p
	}
	if cfg.SystemInstruction != nil {
		var sb strings.Builder
		for _, part := range cfg.SystemInstruction.Parts {
			if part != nil {
				sb.WriteString(part.Text)
			}
		}
		p.instruction = sb.String()
	}
	for _, t := range cfg.Tools {
		if t == nil {
			continue
		}
		rest := *t
		rest.FunctionDeclarations = nil
		for _, d := range t.FunctionDeclarations {
			if d != nil {
				p.tools = append(p.tools, declared{d.Name, encoded(d)})
			}
		}
		if other := encoded(rest); other != "{}" {
			p.tools = append(p.tools, declared{"", other})
		}
	}
	return p
}

// encoded is a value as JSON; what JSON can't hold is the same each time.
func encoded(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}

func (p *prompts) compare(at callbacks.Place, now *prefix) (c PrefixChange, changed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.last
	p.last = now
	if now.calls = 1; before == nil {
		return c, false
	}
	now.calls = before.calls + 1
	c = PrefixChange{Agent: at.Agent, Branch: at.Branch, Call: now.calls}
	return c, c.differs(before, now)
}

func (c *PrefixChange) differs(before, now *prefix) bool {
	if before.instruction != now.instruction {
		c.Part = PrefixInstruction
		c.excerpt(before.instruction, now.instruction)
		return true
	}
	for i := range max(len(before.tools), len(now.tools)) {
		var b, n declared
		if i < len(before.tools) {
			b = before.tools[i]
		}
		if i < len(now.tools) {
			n = now.tools[i]
		}
		if b != n {
			c.Part, c.Tool = PrefixTools, n.name
			c.excerpt(b.json, n.json)
			return true
		}
	}
	return false
}

// excerpt finds the first difference.
func (c *PrefixChange) excerpt(before, now string) {
	for c.At < min(len(before), len(now)) && before[c.At] == now[c.At] {
		c.At++
	}
	// Back to the beginning of the character.
	for c.At > 0 && (c.At < len(before) && !utf8.RuneStart(before[c.At]) || c.At < len(now) && !utf8.RuneStart(now[c.At])) {
		c.At--
	}
	c.Before, c.After = cutTo(before[c.At:], 40), cutTo(now[c.At:], 40)
}

// line is the change in a journal.
func (c PrefixChange) line(j *journal, run *callbacks.Run) line.Line {
	l := j.begin(line.KindPrefix, run)
	l.Agent, l.Call, l.Part, l.Tool = c.Agent, c.Call, c.Part, c.Tool
	l.At, l.Before, l.After = c.At, j.mask(c.Before), j.mask(c.After)
	return l
}

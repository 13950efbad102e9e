// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sinks

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/session"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/artifactname"
	"github.com/gardefou/gardefou/redact"
)

// pseudonyms puts names without personal data in place of those with: the same one for
// the same name, another for another, and nobody without the key can try out names.
type pseudonyms struct {
	r   *redact.Redactor
	key []byte
}

func newPseudonyms(o redact.Options) (*pseudonyms, error) {
	p := &pseudonyms{key: o.Key}
	if len(p.key) == 0 {
		p.key = []byte(rand.Text())
	}
	// Whatever else is set, a name has to stay the same: labels of one language.
	o.Strategy, o.Strategies, o.Language, o.OnReplace = redact.Label, nil, "en", nil
	var err error
	p.r, err = redact.New(o)
	return p, err
}

var base32Lower = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// hashLength is in characters of 5 bits.
const hashLength = 16

// of returns name where there is nothing to hide in it, its own pseudonym among others.
func (p *pseudonyms) of(name string) string {
	masked := p.r.String(name)
	if masked == name {
		return name
	}
	m := hmac.New(sha256.New, p.key)
	m.Write([]byte(name))
	return masked + "-" + base32Lower.EncodeToString(m.Sum(nil))[:hashLength]
}

// event renames the artifacts that an event says were saved, in a copy: ADK shares the map
// with the step that saves.
func (p *pseudonyms) event(ev *session.Event) {
	if ev.Partial {
		return // MaskEvent takes the delta out
	}
	delta := make(map[string]int64, len(ev.Actions.ArtifactDelta))
	for name, version := range ev.Actions.ArtifactDelta {
		delta[p.of(name)] = version
	}
	if len(delta) > 0 {
		ev.Actions.ArtifactDelta = delta
	}
}

// guard renames before Redact, which would put labels that no artifact has, also where that
// stands on an agent.
func (p *pseudonyms) guard() callbacks.Guard {
	return callbacks.Guard{
		Name: "artifact_names",
		BeforeRun: func(ctx agent.InvocationContext) (*genai.Content, error) {
			artifactname.Set(ctx, p.of)
			return nil, nil
		},
		OnEvent: func(_ agent.InvocationContext, ev *session.Event) (*session.Event, error) {
			p.event(ev)
			return nil, nil
		},
	}
}

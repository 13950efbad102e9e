// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"time"

	"github.com/gardefou/gardefou/callbacks"
)

type approvalLine struct {
	Kind     string `json:"kind"`
	TS       string `json:"ts"`
	Run      string `json:"run"`
	Agent    string `json:"agent"`
	Tool     string `json:"tool"`
	CallID   string `json:"call_id"`
	Decision string `json:"decision"`
	By       string `json:"by"`
	Asked    string `json:"asked"`
	Answered string `json:"answered"`
	Always   any    `json:"always,omitempty"`
}

// approvals writes what people decided since it was last called.
func (j *journal) approvals(run *callbacks.Run, s *journalRun) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range decisionsKey.In(run).since(s.approvals) {
		s.approvals++
		l := approvalLine{
			Kind: "approval", TS: j.now(), Agent: d.Agent, Tool: j.mask(d.Tool), CallID: j.mask(d.CallID), Decision: string(d.Outcome), By: j.mask(d.By),
			Asked: stamp(d.Asked), Answered: stamp(d.Answered),
		}
		if run != nil {
			l.Run = run.ID()
		}
		if d.Always != nil {
			if always, _, err := j.o.Redactor.Value(d.Always); err == nil {
				l.Always = always
			}
		}
		j.write(l)
	}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

type prefixLine struct {
	Kind   string `json:"kind"`
	TS     string `json:"ts"`
	Run    string `json:"run"`
	Agent  string `json:"agent"`
	Call   int    `json:"call"`
	Part   string `json:"part"`
	Tool   string `json:"tool,omitempty"`
	At     int    `json:"at"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// changedPrompts writes the changes that StablePrefix saw since it was last called.
func (j *journal) changedPrompts(run *callbacks.Run, s *journalRun) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range prefixesKey.In(run).since(s.prefixes) {
		s.prefixes++
		j.write(prefixLine{"prefix", j.now(), run.ID(), c.Agent, c.Call, c.Part, c.Tool, c.At, j.mask(c.Before), j.mask(c.After)})
	}
}

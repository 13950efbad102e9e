// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
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

// lineOf is one line as it is written.
func lineOf(line any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(line)
	return buf.Bytes(), err
}

// encodable returns a line that could not be encoded with what a tool or a person was given
// in a form that can: a number that JSON does not know must not lose the line.
func encodable(line any) any {
	switch l := line.(type) {
	case toolLine:
		l.Args = inJSON(l.Args)
		return l
	case approvalLine:
		l.Always = inJSON(l.Always)
		return l
	default:
		return line
	}
}

func inJSON(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = inJSON(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = inJSON(e)
		}
		return out
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
		return v
	case float32:
		return inJSON(float64(v))
	default: // the redactor has withheld what has no JSON form
		return v
	}
}

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

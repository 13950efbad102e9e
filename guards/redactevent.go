// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"maps"
	"slices"
	"strconv"

	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool/toolconfirmation"

	"github.com/gardefou/gardefou/redact"
)

// MaskEvent masks everything of an event that is stored or shown: text, calls,
// responses, state and its keys, names of artifacts, output, metadata, error,
// transcriptions, questions to people. What the event refers to is replaced, not changed:
// ADK runs the calls of the same content afterwards. Chunks of a stream are left alone,
// without their deltas: a value cut over two of them can't be seen in one, and deltas come
// again with the whole event. A nil redactor finds e-mail addresses and IBANs and puts
// English labels; a nil event is left alone.
func MaskEvent(r *redact.Redactor, ev *session.Event) error {
	if ev == nil {
		return nil
	}
	if r == nil {
		r = redactEN
	}
	if ev.Partial {
		// A chunk is not stored, and its deltas are the whole event's, which the step that
		// goes on may still write to.
		ev.Actions.StateDelta, ev.Actions.ArtifactDelta = nil, nil
	}
	labels := callMask{args: r.Map, id: r.String}
	if err := maskResponse(r, labels, &ev.LLMResponse); err != nil {
		return err
	}
	if err := maskActions(r, &ev.Actions); err != nil {
		return err
	}
	ids := slices.Clone(ev.LongRunningToolIDs)
	for i, id := range ids {
		ids[i] = r.String(id)
	}
	ev.LongRunningToolIDs = ids
	if q := ev.RequestedInput; q != nil {
		c := *q
		c.Message = r.String(q.Message)
		var err error
		if c.Payload, _, err = r.Value(q.Payload); err != nil {
			return err
		}
		ev.RequestedInput = &c
	}
	if ev.Output != nil {
		masked, _, err := r.Value(ev.Output)
		if err != nil {
			return err
		}
		ev.Output = masked
	}
	return nil
}

// maskActions masks the keys of state, the names of artifacts and the ids of calls too.
// Names that become one label are numbered.
func maskActions(r *redact.Redactor, a *session.EventActions) error {
	state, err := r.Map(a.StateDelta)
	if err != nil {
		return err
	}
	a.StateDelta = state
	if len(a.ArtifactDelta) > 0 {
		versions := make(map[string]int64, len(a.ArtifactDelta))
		for _, name := range slices.Sorted(maps.Keys(a.ArtifactDelta)) {
			masked := r.String(name)
			for i := 2; ; i++ {
				if _, taken := versions[masked]; !taken {
					break
				}
				masked = r.String(name) + " " + strconv.Itoa(i)
			}
			versions[masked] = a.ArtifactDelta[name]
		}
		a.ArtifactDelta = versions
	}
	if len(a.RequestedToolConfirmations) > 0 {
		asked := make(map[string]toolconfirmation.ToolConfirmation, len(a.RequestedToolConfirmations))
		for id, c := range a.RequestedToolConfirmations {
			c.Hint = r.String(c.Hint)
			if c.Payload, _, err = r.Value(c.Payload); err != nil {
				return err
			}
			asked[r.String(id)] = c
		}
		a.RequestedToolConfirmations = asked
	}
	return nil
}

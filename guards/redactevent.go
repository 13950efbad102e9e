// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"reflect"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/session"

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
	end := r
	if ev.Content == nil || ev.Content.Role != genai.RoleUser { // what people say and tools return is all there
		end = r.Ending(endingOf(&ev.LLMResponse))
	}
	if err := maskSaid(r, end, labels, &ev.LLMResponse); err != nil {
		return err
	}
	if err := maskActions(r, nil, &ev.Actions); err != nil {
		return err
	}
	m := &fieldMask{r: r, calls: labels}
	return m.fields(reflect.ValueOf(ev).Elem(), eventFieldsApart...)
}

// eventFieldsApart are masked before, or are what ADK finds its way by: names that the
// program gives its agents and nodes, and ids that ADK makes.
var eventFieldsApart = []string{"LLMResponse", "Actions", "ID", "InvocationID", "Branch", "IsolationScope", "Author", "Routes", "NodeInfo"}

// maskActions masks the keys of state, the names of artifacts and the ids of calls too.
// Names that become one label are numbered. artifact, unless nil, renames artifacts in
// place of labels.
func maskActions(r *redact.Redactor, artifact func(string) string, a *session.EventActions) error {
	if artifact != nil && len(a.ArtifactDelta) > 0 {
		versions := make(map[string]int64, len(a.ArtifactDelta))
		for name, version := range a.ArtifactDelta {
			versions[artifact(name)] = version
		}
		a.ArtifactDelta = versions
	}
	m := &fieldMask{r: r, calls: callMask{args: r.Map, id: r.String}}
	return m.fields(reflect.ValueOf(a).Elem())
}

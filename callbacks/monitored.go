// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"iter"
	"maps"
	"reflect"
	"strings"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
)

// A monitoredContext keeps what a monitored hook writes: session state, the actions of the
// step, a request for approval. The Run is the real one, for what a guard counts.
type monitoredContext struct {
	agent.Context
	state   *monitoredState
	actions *session.EventActions
}

func monitored(ctx agent.Context) agent.Context {
	if ctx == nil {
		return nil
	}
	return &monitoredContext{Context: ctx, state: &monitoredState{State: ctx.State(), written: map[string]any{}}}
}

// Actions are a copy.
func (m *monitoredContext) Actions() *session.EventActions {
	if m.actions != nil {
		return m.actions
	}
	m.actions = &session.EventActions{}
	if real := m.Context.Actions(); real != nil {
		c := *real
		m.actions = &c
	}
	m.actions.StateDelta, m.actions.ArtifactDelta = copyMap(m.actions.StateDelta), copyMap(m.actions.ArtifactDelta)
	m.actions.RequestedToolConfirmations = copyMap(m.actions.RequestedToolConfirmations)
	return m.actions
}

// copyMap is a copy that can be written to.
func copyMap[V any](m map[string]V) map[string]V {
	out := make(map[string]V, len(m))
	maps.Copy(out, m)
	return out
}

// State is the session's, with what the hook wrote over it.
func (m *monitoredContext) State() session.State { return m.state }

// RequestConfirmation asks nobody.
func (m *monitoredContext) RequestConfirmation(string, any) error { return nil }

// EndInvocation ends nothing.
func (m *monitoredContext) EndInvocation() {}

type monitoredState struct {
	session.State
	written map[string]any
}

// Get implements session.State.
func (s *monitoredState) Get(key string) (any, error) {
	if v, ok := s.written[key]; ok {
		return v, nil
	}
	if s.State == nil {
		return nil, session.ErrStateKeyNotExist
	}
	v, err := s.State.Get(key)
	return deepCopy(v), err
}

// Set implements session.State.
func (s *monitoredState) Set(key string, v any) error {
	s.written[key] = v
	return nil
}

// All implements session.State.
func (s *monitoredState) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for k, v := range s.written {
			if !yield(k, v) {
				return
			}
		}
		if s.State == nil {
			return
		}
		for k, v := range s.State.All() {
			if _, ok := s.written[k]; !ok && !yield(k, deepCopy(v)) {
				return
			}
		}
	}
}

// throwAway copies a request for a monitored hook, down to the last nested value. The
// tools behind the names are the real ones.
func throwAway(req *model.LLMRequest) *model.LLMRequest {
	if req == nil {
		return nil
	}
	return &model.LLMRequest{Model: req.Model, Contents: deepCopy(req.Contents), Config: deepCopy(req.Config), Tools: maps.Clone(req.Tools)}
}

// deepCopy copies plain data: maps, slices, and the structs that describe a request or a
// response. Anything else, a client or a function say, is shared.
func deepCopy[T any](v T) T {
	c := copier{}
	out, _ := c.value(reflect.ValueOf(&v).Elem()).Interface().(T)
	return out
}

// copier remembers what it copied, so that what is shared stays shared and a cycle ends.
type copier map[visit]reflect.Value

type visit struct {
	ptr uintptr
	len int
	typ reflect.Type
}

func (c copier) value(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if v.IsNil() {
			return v
		}
		return c.once(v)
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		out.Set(c.value(v.Elem()))
		return out
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		c.fields(out)
		return out
	default:
		return v
	}
}

func (c copier) once(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Pointer && !isData(v.Type().Elem()) {
		return v
	}
	key := visit{v.Pointer(), 0, v.Type()}
	if v.Kind() == reflect.Slice {
		key.len = v.Len()
	}
	if out, ok := c[key]; ok {
		return out
	}
	switch v.Kind() {
	case reflect.Map:
		out := reflect.MakeMapWithSize(v.Type(), v.Len())
		c[key] = out
		for it := v.MapRange(); it.Next(); {
			out.SetMapIndex(it.Key(), c.value(it.Value()))
		}
		return out
	case reflect.Slice:
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		c[key] = out
		for i := range v.Len() {
			out.Index(i).Set(c.value(v.Index(i)))
		}
		return out
	default:
		out := reflect.New(v.Type().Elem())
		c[key] = out
		out.Elem().Set(v.Elem())
		if v.Elem().Kind() == reflect.Struct {
			c.fields(out.Elem())
		} else {
			out.Elem().Set(c.value(v.Elem()))
		}
		return out
	}
}

// fields copies what hangs below the exported fields of a struct that is a copy itself.
func (c copier) fields(v reflect.Value) {
	if !isData(v.Type()) {
		return
	}
	for i := range v.NumField() {
		if f := v.Field(i); f.CanSet() {
			f.Set(c.value(f))
		}
	}
}

// isData reports whether values of a type only describe something: those that have no
// package, and those of the packages that requests and responses are made of.
func isData(t reflect.Type) bool {
	p := t.PkgPath()
	return p == "" || p == "google.golang.org/genai" || p == "google.golang.org/adk/v2/model" || strings.HasPrefix(p, "github.com/google/jsonschema-go")
}

// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"

	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

// planter puts an address of its own into everything in a value that can hold text.
type planter struct {
	t     *testing.T
	paths map[string]string // by address
}

func plant(t *testing.T, v any) *planter {
	p := &planter{t, make(map[string]string)}
	rv := reflect.ValueOf(v).Elem()
	p.fill(rv, rv.Type().Name(), nil)
	return p
}

func (p *planter) address(path string) string {
	a := fmt.Sprintf("planted%d@field.example", len(p.paths))
	p.paths[a] = path
	return a
}

func (p *planter) fill(v reflect.Value, path string, above []reflect.Type) {
	p.t.Helper()
	t := v.Type()
	if n := slices.Index(above, t); n >= 0 {
		return // a type within itself, one level of it is filled
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(p.address(path))
	case reflect.Interface:
		require.Zero(p.t, t.NumMethod(), "%s: a %s can't be filled; see whether it is masked", path, t)
		v.Set(reflect.ValueOf(map[string]any{p.address(path + " key"): []any{p.address(path)}}))
	case reflect.Map:
		key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		p.fill(key, path+" key", nil)
		p.fill(value, path+"[]", above)
		v.Set(reflect.MakeMap(t))
		v.SetMapIndex(key, value)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			v.Set(reflect.ValueOf([]byte(p.address(path))).Convert(t))
			return
		}
		v.Set(reflect.MakeSlice(t, 1, 1))
		p.fill(v.Index(0), path+"[]", above)
	case reflect.Array:
		p.fill(v.Index(0), path+"[]", above)
	case reflect.Pointer:
		if t.Elem().Kind() == reflect.Bool || slices.Contains(above, t.Elem()) {
			return
		}
		v.Set(reflect.New(t.Elem()))
		p.fill(v.Elem(), path, above)
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range t.NumField() {
			require.True(p.t, t.Field(i).IsExported(), "%s.%s can't be filled; see whether it is masked", path, t.Field(i).Name)
			p.fill(v.Field(i), path+"."+t.Field(i).Name, append(slices.Clone(above), t))
		}
	case reflect.Bool:
	default:
		require.True(p.t, v.Kind() >= reflect.Int && v.Kind() <= reflect.Float64, "%s: a %s can't be filled; see whether it is masked", path, t)
	}
}

var planted = regexp.MustCompile(`planted\d+@field\.example`)

// left returns the paths whose address v still holds.
func (p *planter) left(v any) []string {
	paths := make(map[string]bool)
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			for _, a := range planted.FindAllString(v.String(), -1) {
				paths[p.paths[a]] = true
			}
		case reflect.Interface, reflect.Pointer:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Map:
			for it := v.MapRange(); it.Next(); {
				walk(it.Key())
				walk(it.Value())
			}
		case reflect.Slice, reflect.Array:
			if v.Type().Elem().Kind() == reflect.Uint8 {
				walk(reflect.ValueOf(string(v.Bytes())))
				return
			}
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i))
			}
		default:
		}
	}
	walk(reflect.ValueOf(v))
	return slices.Sorted(maps.Keys(paths))
}

// signature is bytes that the provider gets back as they are.
const signature = "LLMResponse.Content.Parts[].ThoughtSignature"

// Whatever field of a response holds text is masked, whatever ADK adds to it.
func TestRedactMasksEveryFieldOfAResponse(t *testing.T) {
	resp := &model.LLMResponse{}
	p := plant(t, resp)
	require.Greater(t, len(p.paths), 80)
	require.Contains(t, slices.Collect(maps.Values(p.paths)), "LLMResponse.InputTranscription.Words[].Word")
	got := callbackstest.AfterModel(t, guards.Redact(), resp)
	require.Equal(t, []string{signature}, p.left(got))
}

// The same for an event, but for what ADK finds its way by.
func TestRedactMasksEveryFieldOfAnEvent(t *testing.T) {
	ev := &session.Event{}
	p := plant(t, ev)
	require.NoError(t, guards.MaskEvent(nil, ev))
	require.Equal(t, []string{
		"Event.Author", "Event.Branch", "Event.ID", "Event.InvocationID", "Event.IsolationScope",
		"Event." + signature, "Event.NodeInfo.OutputFor[]", "Event.NodeInfo.Path", "Event.RequestedInput.InterruptID", "Event.Routes[]",
	}, p.left(ev))
}

// acting is a context of a call with actions.
type acting struct {
	agent.Context
	actions *session.EventActions
}

func (a acting) Actions() *session.EventActions { return a.actions }

// The same for what a tool does beside its result, in the form that stands on an agent.
func TestRedactMasksEveryFieldOfActions(t *testing.T) {
	for name, hook := range map[string]func(ctx agent.Context) error{
		"result": func(ctx agent.Context) error {
			_, err := guards.Redact().AfterTool(ctx, callbackstest.Tool("t"), nil, map[string]any{"a": 1}, nil)
			return err
		},
		"error": func(ctx agent.Context) error {
			_, err := guards.Redact().AfterTool(ctx, callbackstest.Tool("t"), nil, nil, errBroken)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			actions := &session.EventActions{}
			p := plant(t, actions)
			require.NoError(t, hook(acting{callbackstest.Context(t), actions}))
			require.Empty(t, p.left(actions))
			require.Len(t, actions.RequestedToolConfirmations, 1)
		})
	}
}

// What MaskEvent replaces it replaces in copies: the parts are ADK's own.
func TestMaskEventChangesNothingItIsGiven(t *testing.T) {
	ev := &session.Event{}
	plant(t, ev)
	given := *ev
	copied := fmt.Sprint(deep(&given))
	require.NoError(t, guards.MaskEvent(nil, ev))
	require.Equal(t, copied, fmt.Sprint(deep(&given)))
}

// deep spells a value out through its pointers.
func deep(v any) string {
	var b strings.Builder
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Interface, reflect.Pointer:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i))
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		default: // the maps have one key
			fmt.Fprintln(&b, v)
		}
	}
	walk(reflect.ValueOf(v))
	return b.String()
}

// An answer that holds bytes keeps those that are a picture.
func TestRedactKeepsPictures(t *testing.T) {
	picture := []byte{0xff, 0xd8, 0xff}
	resp := callbackstest.AfterModel(t, guards.Redact(), &model.LLMResponse{Content: genai.NewContentFromParts([]*genai.Part{
		genai.NewPartFromBytes(picture, "image/jpeg"), {Text: "x", ThoughtSignature: picture},
	}, genai.RoleModel)})
	require.Equal(t, picture, resp.Content.Parts[0].InlineData.Data)
	require.Equal(t, picture, resp.Content.Parts[1].ThoughtSignature)
}

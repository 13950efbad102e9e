// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package line

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Kinds of line that guards.Journal writes.
const (
	KindRun      = "run"
	KindModel    = "model"
	KindTool     = "tool"
	KindRefusal  = "refusal"
	KindApproval = "approval"
	KindPrefix   = "prefix"
	KindSpend    = "spend"
	KindEnd      = "end"
)

// Kinds of line that a chained journal writes itself.
const (
	KindOpen  = "open"
	KindLost  = "lost"
	KindClose = "close"
)

// forms are the fields of each kind in the order they are written, between kind with ts and the
// link. A field with "?" is left out where it is zero.
var forms = map[string]form{
	KindRun: formOf("run attempt_of?"),
	KindModel: formOf("run invocation agent model served? attempts tokens_in tokens_out tokens_thinking tokens_cached charged? landed " +
		"outcome guard? code? reason? cause? ms"),
	KindTool:     formOf("run invocation agent tool call_id args charged? error outcome guard? code? reason? cause? ms"),
	KindRefusal:  formOf("run invocation agent step tool? guard code reason cause? outcome stop"),
	KindApproval: formOf("run agent tool call_id decision by asked answered always?"),
	KindPrefix:   formOf("run agent call part tool? at before after"),
	KindSpend:    formOf("run agent what calls refused estimated reserved charged overrun tokens_in tokens_out tokens_cached"),
	KindEnd:      formOf("run status agent? guard? code? reason? model_calls tool_calls refusals"),
	KindOpen:     formOf("format recovered? torn?"),
	KindLost:     formOf("lines"),
	KindClose:    formOf("lost continues?"),
}

// A form is a struct of the fields of one kind, and where in a Line each is.
type form struct {
	as    reflect.Type
	index []int
}

// tagged are the fields of a Line by their names in JSON.
var tagged = func() map[string]reflect.StructField {
	all := make(map[string]reflect.StructField)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Line]()) {
		all[f.Tag.Get("json")] = f
	}
	return all
}()

// formOf panics where a Line lacks a field: as forms is built with the package, nothing can be
// written that a Line could not read.
func formOf(names string) form {
	var f form
	var fields []reflect.StructField
	for _, name := range strings.Fields("kind ts " + names + " seq? prev? sum?") {
		name, optional := strings.CutSuffix(name, "?")
		field, ok := tagged[name]
		if !ok {
			panic("line: a Line has no field " + name)
		}
		f.index = append(f.index, field.Index[0])
		if optional {
			field.Tag = reflect.StructTag(`json:"` + name + `,omitempty"`)
		}
		fields = append(fields, reflect.StructField{Name: field.Name, Type: field.Type, Tag: field.Tag})
	}
	f.as = reflect.StructOf(fields)
	return f
}

// Encode returns the line as a journal has it, UTF-8 not escaped, with its line feed. It fails
// where the kind is unknown, or a time or Args has no form in JSON.
func (l Line) Encode() ([]byte, error) {
	f, ok := forms[l.Kind]
	if !ok {
		return nil, fmt.Errorf("line: unknown kind %q", l.Kind)
	}
	from, to := reflect.ValueOf(&l).Elem(), reflect.New(f.as).Elem()
	for i, at := range f.index {
		to.Field(i).Set(from.Field(at))
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(to.Addr().Interface())
	return buf.Bytes(), err
}

// MarshalJSON is [Line.Encode] for encoding/json.
func (l Line) MarshalJSON() ([]byte, error) { return l.Encode() }

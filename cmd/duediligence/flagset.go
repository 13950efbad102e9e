// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// given are the flags of a command that were given.
type given struct {
	on      commands
	changed func(name string) bool
}

// has reports whether the flag was given whose value goes to a place of c, or of what c is a
// copy of.
func (g given) has(c *config, to any) bool {
	all := c.flags()
	i := slices.IndexFunc(all, func(f flagRow) bool { return f.to == to && f.on&g.on != 0 })
	return i >= 0 && g.changed(all[i].name)
}

// register gives a command its flags, whose values go into c.
func (c *config) register(cmd *cobra.Command, on commands) given {
	for _, f := range c.flags() {
		if f.on&on == 0 {
			continue
		}
		f.add(cmd.Flags())
		if f.variable != "" { // not as the flag's default, which the help prints
			*f.to.(*string) = os.Getenv(f.variable)
		}
		if f.values == nil {
			continue
		}
		if err := cmd.RegisterFlagCompletionFunc(f.name, cobra.FixedCompletions(f.values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			panic(err) // no such flag
		}
	}
	return given{on, cmd.Flags().Changed}
}

func (f flagRow) add(fs *pflag.FlagSet) {
	switch to := f.to.(type) {
	case *string:
		fs.StringVarP(to, f.name, f.short, otherwise[string](f), f.help)
	case *bool:
		fs.BoolVarP(to, f.name, f.short, otherwise[bool](f), f.help)
	case *int:
		fs.IntVarP(to, f.name, f.short, otherwise[int](f), f.help)
	case *int64:
		fs.Int64VarP(to, f.name, f.short, otherwise[int64](f), f.help)
	case *time.Duration:
		fs.DurationVarP(to, f.name, f.short, otherwise[time.Duration](f), f.help)
	case *list:
		fs.StringSliceVarP((*[]string)(to), f.name, f.short, otherwise[list](f), f.help)
	case *[]string:
		fs.StringArrayVarP(to, f.name, f.short, nil, f.help)
	case *map[string]string:
		fs.StringToStringVarP(to, f.name, f.short, nil, f.help)
	default:
		panic(fmt.Sprintf("--%s: no flag has a %T", f.name, f.to))
	}
}

func otherwise[T any](f flagRow) (value T) {
	if f.otherwise != nil {
		value = f.otherwise.(T)
	}
	return value
}

// name is that of the flag whose value goes to a place.
func (c *config) name(to any) string {
	all := c.flags()
	return all[slices.IndexFunc(all, func(f flagRow) bool { return f.to == to })].name
}

// named is how the flag is written whose value goes to a place.
func (c *config) named(to any) string { return "--" + c.name(to) }

func (f flagRow) value() reflect.Value { return reflect.ValueOf(f.to).Elem() }

// MarshalJSON makes the settings of a kept run.
func (c config) MarshalJSON() ([]byte, error) {
	var buf bytes.Buffer
	for _, f := range c.flags() {
		name, omitempty := strings.CutSuffix(f.kept, ",omitempty")
		if v := f.value(); name == "" || omitempty && (v.IsZero() || v.Kind() == reflect.Map && v.Len() == 0) {
			continue
		}
		data, err := json.Marshal(f.to)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(&buf, ",%q:%s", name, data)
	}
	return append(append([]byte("{"), bytes.TrimPrefix(buf.Bytes(), []byte(","))...), '}'), nil
}

// UnmarshalJSON reads the settings of a kept run; what is not among them stays.
func (c *config) UnmarshalJSON(data []byte) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(data, &values); err != nil {
		return err
	}
	for _, f := range c.flags() {
		name, _, _ := strings.Cut(f.kept, ",")
		if value, ok := values[name]; ok && name != "" {
			if err := json.Unmarshal(value, f.to); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// restore takes what a kept run was begun with, but for what is given now and the hosts.
func (c *config) restore(kept config, given given) {
	theirs := kept.flags()
	for i, f := range c.flags() {
		if f.kept != "" && !f.host && !given.has(c, f.to) {
			f.value().Set(theirs[i].value())
		}
	}
	if kept.budget == "" { // then nothing is priced, and the file may be gone
		c.priceFile = ""
	}
	if given.has(c, &c.journal) {
		c.journalSize = 0
	}
}

// question is what a run is about, without what it may use.
func (c config) question() string {
	for _, f := range c.flags() {
		if f.limit {
			f.value().SetZero()
		}
	}
	data, err := json.Marshal(c)
	if err != nil {
		panic(err) // of strings and numbers
	}
	return string(data)
}

// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "duediligence version %s, %s\n", version(), platform())
			return err
		},
	}
}

// version is the module's version and, as far as the build knows them, the commit, its
// date and whether files were changed since.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) string {
	set := make(map[string]string, len(info.Settings))
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	v := cmp.Or(info.Main.Version, "(devel)")
	if commit := set["vcs.revision"]; commit != "" {
		v += " commit " + commit
		if set["vcs.modified"] == "true" {
			v += "+changes"
		}
		if at := set["vcs.time"]; at != "" {
			v += " of " + at
		}
	}
	return v
}

// platform is what --version adds for who reports a fault.
func platform() string { return runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH }

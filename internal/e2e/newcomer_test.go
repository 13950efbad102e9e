// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const modulePath = "github.com/gardefou/gardefou"

// A newcomer has an empty folder and the README. They get the module, paste the program,
// and see what the README says they see; they paste the test, and it passes; they paste
// what shows the guards, and see them.
func TestNewcomer(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a module")
	}
	version, proxies := proxied(t)
	dir := t.TempDir()
	write := func(name, content string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	run := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOPROXY="+proxies, "GONOSUMDB="+modulePath, "GOFLAGS=-modcacherw", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "go %s: %s", strings.Join(args, " "), out)
		return string(out)
	}
	top, _, _ := strings.Cut(read(t, "README.md"), "\n# Reference\n")
	blocks := goBlocks(top)
	require.Len(t, blocks, 3, "the program, the test, what is active")
	_, output, found := strings.Cut(top, "```text\n")
	require.True(t, found)
	output, _, _ = strings.Cut(output, "```")

	start := time.Now()
	run("mod", "init", "newcomer")
	run("get", modulePath+"@"+version)
	write("main.go", blocks[0])
	run("mod", "tidy")
	require.Equal(t, output, run("run", "."))
	t.Logf("from an empty folder to the output: %s", time.Since(start).Round(time.Second))

	write("hook_test.go", blocks[1])
	require.Contains(t, run("test", "./..."), "ok")

	played := strings.Index(blocks[0], "\tif _, err := callbackstest.Play")
	write("main.go", strings.Replace(blocks[0][:played], "import (\n", "import (\n\t\"fmt\"\n", 1)+blocks[2]+blocks[0][played:])
	active := run("run", ".")
	require.Contains(t, active, "3 model calls per agent")
	require.Contains(t, active, "tools: lookup")
	require.Contains(t, active, output)
}

// proxied makes a module proxy in a folder that serves this module as it stands here, and
// returns its version and GOPROXY. The rest comes from the module cache, or from where
// this machine gets modules.
func proxied(t *testing.T) (version, proxies string) {
	t.Helper()
	list, err := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Skip("not a git checkout")
	}
	// A version of its own for each run: the module cache keeps what it has seen.
	version = fmt.Sprintf("v0.0.0-newcomer.%d", time.Now().UnixNano())
	env := func(name string) string {
		out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
		require.NoError(t, err)
		return strings.TrimSpace(string(out))
	}
	proxy, cache := t.TempDir(), env("GOMODCACHE")
	t.Cleanup(func() {
		_ = os.RemoveAll(filepath.Join(cache, modulePath+"@"+version))
		left, _ := filepath.Glob(filepath.Join(cache, "cache", "download", modulePath, "@v", version+".*"))
		for _, f := range left {
			_ = os.Remove(f)
		}
	})
	at := filepath.Join(proxy, modulePath, "@v")
	require.NoError(t, os.MkdirAll(at, 0o750))
	write := func(name string, content []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(at, name), content, 0o600))
	}
	write("list", []byte(version+"\n"))
	write(version+".info", []byte(`{"Version":"`+version+`"}`))
	write(version+".mod", []byte(read(t, "go.mod")))
	var files []zip.File
	for _, name := range strings.Split(strings.TrimRight(string(list), "\x00"), "\x00") {
		if _, err := os.Stat(name); err == nil { // a file may be deleted and not yet committed
			files = append(files, moduleFile(name))
		}
	}
	out, err := os.Create(filepath.Join(at, version+".zip"))
	require.NoError(t, err)
	require.NoError(t, zip.Create(out, module.Version{Path: modulePath, Version: version}, files))
	require.NoError(t, out.Close())
	address := func(dir string) string { return (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}).String() }
	return version, strings.Join([]string{address(proxy), address(filepath.Join(cache, "cache", "download")), env("GOPROXY")}, ",")
}

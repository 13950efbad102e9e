// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/agents/offline"
	"github.com/gardefou/gardefou/internal/standin"
)

// A disk that fills up while the report is written: the command fails, and the
// report that was there stays as it was. (Hostile case 42.)
func TestAFullDiskKeepsTheOldReport(t *testing.T) {
	dir := t.TempDir()
	require.Equal(t, exitOK, command(t, "-o", dir, "Transports Kervalec").code)
	read := func() map[string]string {
		all := map[string]string{}
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, e := range entries {
			if e.IsDir() {
				continue // the run, which is not of the report
			}
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			require.NoError(t, err)
			all[e.Name()] = string(data)
		}
		return all
	}
	before := read()
	require.Len(t, before, 6)
	// report.md fits, report.html does not: a full disk hardly ever comes at the first file.
	limit := len(before["report.html"]) - 1
	require.Less(t, len(before["report.md"]), limit)
	r := withFileLimit(t, limit, "-o", dir, "--annual-purchases", "9000", "Transports Kervalec")
	require.Equal(t, exitFailed, r.code, r.stderr)
	require.Contains(t, r.stderr, "report.html")
	require.Equal(t, before, read())
}

// withFileLimit runs the command in a process whose files may not grow over limit bytes; Go
// turns the signal that goes with it into an error of the write.
func withFileLimit(t *testing.T, limit int, args ...string) result {
	t.Helper()
	cmd := process(t, args...)
	cmd.Env = append(cmd.Env, fileLimit+"="+strconv.Itoa(limit))
	return finish(t, cmd)
}

func init() {
	limitFiles = func(s string) {
		limit, err := strconv.ParseUint(s, 10, 64)
		if err == nil {
			err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit})
		}
		if err != nil {
			panic(err)
		}
	}
}

// The disk fills up under the journal: the report that was paid for is printed all the
// same, the exit code says what is missing, and the journal goes on when there is room.
func TestDiskFillsUpUnderTheJournal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "j.jsonl")
	whole := command(t, "--journal", file, "Transports Kervalec")
	require.Equal(t, exitOK, whole.code)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	step := len(data) / 4
	if soak() {
		step = 97
	}
	for room := step; room < len(data); room += step {
		require.NoError(t, os.WriteFile(file, data, 0o600))
		r := withFileLimit(t, len(data)+room, "--journal", file, "Transports Kervalec")
		if r.code == exitRefused { // no room for even the first line: said before anything is paid for
			require.Empty(t, r.stdout)
			require.Less(t, room, 300)
			continue
		}
		require.Equal(t, exitFailed, r.code, r.stderr)
		require.Contains(t, r.stderr, "journal could not be written")
		require.Equal(t, whole.stdout, r.stdout)

		r = command(t, "--journal", file, "Transports Kervalec")
		require.Equal(t, exitOK, r.code, r.stderr)
		require.Equal(t, exitOK, command(t, "journal", "verify", file).code, room)
	}
}

// A small disk that is full at any stage of a run: nobody is told to give the folder that
// was given, and the command that is told brings the report once there is room.
func TestAFullDiskSaysHowToGoOn(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", standin.Key)
	s := standin.Gemini(t, offline.Model{}, nil)
	whole := command(t, runArgs(s.URL, t.TempDir(), "--budget", "1")...)
	require.Equal(t, exitOK, whole.code, whole.stderr)
	for _, free := range []int{40, 100, 260, 324, 424, 480} {
		disk := smallDisk(t, "1m")
		filler, dir := filepath.Join(disk, "filler"), filepath.Join(disk, "out")
		require.NoError(t, os.WriteFile(filler, make([]byte, (1024-free)<<10), 0o600))
		r := command(t, runArgs(s.URL, dir, "--budget", "1")...)
		require.Equal(t, exitFailed, r.code, r.stderr)
		require.NotContains(t, r.stderr, "give it a folder")
		require.Contains(t, r.stdout, "TRANSPORTS KERVALEC")
		// A second attempt stores all of the first again, so the space of the filler alone
		// is enough for it or not by where the first one stopped.
		require.NoError(t, os.Remove(filler))
		growDisk(t, disk, "16m")
		again := "duediligence resume " + dir
		if free == 40 { // no room to keep anything
			require.NotContains(t, r.stderr, again)
			require.Contains(t, r.stderr, "all that is left")
			continue
		}
		require.Contains(t, r.stderr, again, free)
		calls := len(s.Bodies())
		resumed := command(t, resumeArgs(s.URL, dir)...)
		require.Equal(t, exitOK, resumed.code, "%d: %s", free, resumed.stderr)
		require.Equal(t, whole.stdout, resumed.stdout)
		if strings.Contains(r.stderr, "costs nothing again") {
			require.Len(t, s.Bodies(), calls, free)
		}
	}
}

// smallDisk is a file system of its own, where one may be mounted.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size="+size); err != nil {
		t.Skip("may not mount a small disk:", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(disk, 0)) })
	return disk
}

// growDisk makes a small disk larger, with what it holds.
func growDisk(t *testing.T, disk, size string) {
	t.Helper()
	require.NoError(t, syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT, "size="+size))
}

// A journal elsewhere whose disk is full costs the folder nothing: the run there is done.
func TestAFullDiskUnderAJournalElsewhere(t *testing.T) {
	dir := t.TempDir()
	args := []string{"-o", dir, "--journal", filepath.Join(smallDisk(t, "8k"), "j.jsonl"), "Transports Kervalec"}
	r := command(t, args...)
	require.Equal(t, exitFailed, r.code, r.stderr)
	require.Contains(t, r.stderr, "journal could not be written")
	require.NotContains(t, r.stderr, "resume")
	require.Equal(t, r.stdout, file(t, dir, "report.md"))
	require.Equal(t, exitOK, command(t, "journal", "verify", dir).code)
	require.Equal(t, exitOK, command(t, "-o", dir, "Transports Kervalec").code, "it is finished and may be replaced")
}

// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Command mutate changes one thing at a time in a package and runs the package's tests,
// then those of the other packages named: a change that no test notices, a survivor, is a
// line that no test holds. The files themselves are not touched.
//
//	go run ./internal/mutate -sample 100 ./callbacks ./guards
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() { os.Exit(mutate()) }

func mutate() int {
	sample := flag.Int("sample", 0, "try this many changes of each package, drawn at random; 0 for all")
	seed := flag.Uint64("seed", 1, "seed of the draw")
	timeout := flag.Duration("timeout", 2*time.Minute, "time allowed for one run of the tests; running out of it counts as noticed")
	least := flag.Float64("least", 0, "exit with 1 where less than this share of the changes of a package is noticed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	failed := false
	for _, dir := range flag.Args() {
		share, err := run(ctx, dir, flag.Args(), *sample, *seed, *timeout)
		if err != nil {
			fmt.Fprintln(os.Stderr, "mutate:", err)
			return 1
		}
		failed = failed || share < *least
	}
	if failed {
		return 1
	}
	return 0
}

// run tries the changes of one package and returns the share that was noticed.
func run(ctx context.Context, dir string, tests []string, sample int, seed uint64, timeout time.Duration) (float64, error) {
	changes, err := changesOf(dir)
	if err != nil {
		return 0, err
	}
	total := len(changes)
	draw := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a draw to be repeated
	draw.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
	if sample > 0 && sample < len(changes) {
		changes = changes[:sample]
	}
	var noticed, invalid int
	var survivors []string
	for i, c := range changes {
		got, err := try(ctx, ownFirst(dir, tests), c, timeout)
		if err != nil {
			return 0, err
		}
		switch got {
		case isInvalid:
			invalid++
		case isNoticed:
			noticed++
		case isSurvivor:
			survivors = append(survivors, c.String())
		}
		fmt.Fprintf(os.Stderr, "\r%s: %d of %d, %d survive", dir, i+1, len(changes), len(survivors))
	}
	fmt.Fprintln(os.Stderr)
	tried := len(changes) - invalid
	if tried == 0 {
		return 0, fmt.Errorf("%s: nothing to change", dir)
	}
	share := float64(noticed) / float64(tried)
	fmt.Printf("%s: %d of %d changes tried, %d do not compile, %.1f %% noticed\n", dir, len(changes), total, invalid, 100*share)
	slices.Sort(survivors)
	for _, s := range survivors {
		fmt.Println("  survives:", s)
	}
	return share, nil
}

type verdict int

const (
	isSurvivor verdict = iota
	isNoticed
	isInvalid
)

// ownFirst puts the package's own tests, which know it best, before the others'.
func ownFirst(dir string, tests []string) []string {
	return append([]string{dir}, slices.DeleteFunc(slices.Clone(tests), func(d string) bool { return d == dir })...)
}

// try runs tests, one package after the other, with one change laid over its file until
// one notices.
func try(ctx context.Context, tests []string, c change, timeout time.Duration) (verdict, error) {
	tmp, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	abs, err := filepath.Abs(c.file)
	if err != nil {
		return 0, err
	}
	mutated, overlay := filepath.Join(tmp, filepath.Base(c.file)), filepath.Join(tmp, "overlay.json")
	layers, err := json.Marshal(map[string]map[string]string{"Replace": {abs: mutated}})
	if err != nil {
		return 0, err
	}
	if err := errors.Join(os.WriteFile(mutated, c.source(), 0o600), os.WriteFile(overlay, layers, 0o600)); err != nil {
		return 0, err
	}
	for _, dir := range tests {
		args := []string{"test", "-vet=off", "-short", "-failfast", "-count=1", "-timeout", timeout.String(), "-overlay", overlay, "./" + filepath.ToSlash(filepath.Clean(dir))}
		out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput() //nolint:gosec // go itself
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case err == nil:
		case strings.Contains(string(out), "[build failed]") || strings.Contains(string(out), "[setup failed]"):
			return isInvalid, nil
		default:
			return isNoticed, nil
		}
	}
	return isSurvivor, nil
}

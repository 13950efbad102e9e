// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"flag"
	"testing"
	"time"
)

var (
	programsN    = flag.Int("programs.n", 0, "how many random programs to run; 0 is a sample")
	programsSeed = flag.Uint64("programs.seed", 1, "the seed of the first random program; 0 takes one from the clock")
)

// pendingLaws are laws that programs are known to break, and why. Each goes with its cause.
var pendingLaws = map[string]string{
	lawReasons:     "the text of a refusal is the reason that observers get, as the guard wrote it",
	lawWritten:     "the last pass is over when an after_agent hook writes state, and leaves arguments alone",
	lawPluginSteps: "a step that a plugin sees begin is not told where its consumer leaves and another begins",
}

// TestPrograms runs random programs and holds the laws against what really happened in
// each. A program that breaks one is printed as small as it comes, with its seed:
//
//	go test ./guards -run Programs -programs.seed 4711 -programs.n 1
func TestPrograms(t *testing.T) {
	n, seed := *programsN, *programsSeed
	if n == 0 {
		n = sampleOfPrograms()
	}
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	refused, faults := 0, 0
	next := seed
	for ran := 0; ran < n; next++ {
		spec := drawProgram(next)
		broken, err := playProgram(t, spec)
		if err != nil {
			refused++ // another is drawn
			continue
		}
		ran++
		if b := firstOf(broken); b != nil {
			small, b := shrink(t, spec, *b)
			t.Errorf("program %d: %s\n\t%s\n\t%s\n\tas drawn: %s", spec.Seed, b.law, b.how, small, spec)
			if faults++; faults == 5 {
				break
			}
		}
	}
	t.Logf("programs %d to %d; %d refused at construction", seed, next-1, refused)
}

func sampleOfPrograms() int {
	switch {
	case testing.Short():
		return 300
	case raceDetector:
		return 500
	}
	return 5000
}

// firstOf is the first law broken that is not pending.
func firstOf(broken []violation) *violation {
	for _, b := range broken {
		if _, pending := pendingLaws[b.law]; !pending {
			return &b
		}
	}
	return nil
}

// shrink leaves out what the program breaks the same law without.
func shrink(t *testing.T, spec programSpec, b violation) (programSpec, violation) {
	t.Helper()
	for tries := 0; tries < 400; {
		smaller := false
		for _, c := range spec.smaller() {
			if tries++; tries > 400 {
				break
			}
			broken, _ := playProgram(t, c)
			if now := firstOf(broken); now != nil && now.law == b.law {
				spec, b, smaller = c, *now, true
				break
			}
		}
		if !smaller {
			break
		}
	}
	return spec, b
}

// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package prices

import "fmt"

// Usage is what a call used, with one meaning whatever the provider's fields mean. Input
// holds every token read, Output every token written; the other counts are parts of them.
type Usage struct {
	Input  int64 `json:"input"`
	Output int64 `json:"output"`
	// CacheRead, CacheWrite and CacheWrite1h are parts of Input and share no token.
	CacheRead    int64 `json:"cache_read,omitempty"`
	CacheWrite   int64 `json:"cache_write,omitempty"`
	CacheWrite1h int64 `json:"cache_write_1h,omitempty"`
	// AudioInput is a part of Input, AudioCacheRead a part of both AudioInput and CacheRead.
	AudioInput     int64 `json:"audio_input,omitempty"`
	AudioCacheRead int64 `json:"audio_cache_read,omitempty"`
	// Reasoning and ImageOutput are parts of Output and share no token.
	Reasoning   int64 `json:"reasoning,omitempty"`
	ImageOutput int64 `json:"image_output,omitempty"`
	// Fees counts units of the row's fees by name.
	Fees Fees `json:"fees,omitempty"`
}

// Fees counts units of fees by name.
type Fees map[string]int64

func (u *Usage) check() error {
	for _, n := range [...]int64{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.CacheWrite1h, u.AudioInput, u.AudioCacheRead, u.Reasoning, u.ImageOutput} {
		// The bound keeps sums of counts from overflowing; no request holds 2^53 tokens.
		if n < 0 || n > 1<<53 {
			return fmt.Errorf("%w: a count is %d", ErrUsage, n)
		}
	}
	switch {
	case u.AudioCacheRead > u.AudioInput || u.AudioCacheRead > u.CacheRead:
		return fmt.Errorf("%w: more cached sound than sound or cache", ErrUsage)
	case u.plainInput() < 0:
		return fmt.Errorf("%w: the parts of the input are more than the input", ErrUsage)
	case u.Reasoning+u.ImageOutput > u.Output:
		return fmt.Errorf("%w: the parts of the output are more than the output", ErrUsage)
	}
	return nil
}

func (u *Usage) plainInput() int64 {
	return u.Input - u.CacheRead - u.CacheWrite - u.CacheWrite1h - (u.AudioInput - u.AudioCacheRead)
}

// Tokens is Input plus Output.
func (u *Usage) Tokens() int64 { return u.Input + u.Output }

// Bound is the most a call can use. The zero value of each flag is the dear assumption.
type Bound struct {
	// Input and Output bound every token read and written, reasoning included.
	Input  int64 `json:"input"`
	Output int64 `json:"output"`
	// TextInput says the request holds nothing but text.
	TextInput bool `json:"text_input,omitempty"`
	// TextOutput says the answer can hold nothing but text.
	TextOutput bool `json:"text_output,omitempty"`
	// NoCacheWrite says that no cache entry can be written and billed.
	NoCacheWrite bool `json:"no_cache_write,omitempty"`
	// Fees bounds the units of each fee.
	Fees Fees `json:"fees,omitempty"`
}

func (b *Bound) check() error {
	if b.Input < 0 || b.Output < 0 {
		return fmt.Errorf("%w: a bound is negative", ErrUsage)
	}
	return nil
}

// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"iter"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/callbacks"
)

// buckets are token buckets in the memory of this process.
type buckets struct {
	o  RateLimitOptions
	mu sync.Mutex
	by map[string]*rate.Limiter
}

func newBuckets(o RateLimitOptions) *buckets {
	return &buckets{o: o, by: make(map[string]*rate.Limiter)}
}

// take implements rates. A reservation holds the call's place while it waits.
func (b *buckets) take(_ context.Context, key string, most time.Duration) (wait time.Duration, passed bool, err error) {
	r := b.limiter(key).Reserve()
	if wait = r.Delay(); wait > most {
		r.Cancel()
		return wait, false, nil
	}
	return wait, true, nil
}

// maxBuckets is how many keys are kept before those are forgotten that are full again.
const maxBuckets = 1024

func (b *buckets) limiter(key string) *rate.Limiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	l, ok := b.by[key]
	if !ok {
		if len(b.by) >= maxBuckets {
			for k, old := range b.by {
				if old.Tokens() >= float64(b.o.Burst) {
					delete(b.by, k)
				}
			}
		}
		l = rate.NewLimiter(rate.Every(b.o.Every/time.Duration(b.o.Calls)), b.o.Burst)
		b.by[key] = l
	}
	return l
}

// stretches count calls in fixed stretches of time, in a store.
type stretches struct{ o RateLimitOptions }

// take implements rates.
func (s stretches) take(ctx context.Context, key string, _ time.Duration) (wait time.Duration, passed bool, err error) {
	now := time.Now()
	n := now.UnixNano() / int64(s.o.Every)
	_, ok, err := s.o.Store.Take(ctx, key+":"+strconv.FormatInt(n, 10), 1, int64(s.o.Calls))
	if err != nil || ok {
		return 0, ok, err
	}
	next := time.Unix(0, (n+1)*int64(s.o.Every))
	return max(next.Sub(now), time.Nanosecond), false, nil
}

// A firstAttempt is that of a step, which the hook let pass, with its key.
type firstAttempt struct {
	mu        sync.Mutex
	key       string
	set, done bool
}

func (f *firstAttempt) begin(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.key, f.set, f.done = key, true, false
}

// made notes an attempt; it returns the key, and whether the attempt was let pass already.
func (f *firstAttempt) made() (key string, passed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	passed = !f.set || !f.done
	f.done = true
	return f.key, passed
}

// wrapModel limits the attempts beyond the first; the hook has let that pass.
func (l *rateLimit) wrapModel(next model.LLM, first *callbacks.PlaceKey[*firstAttempt]) model.LLM {
	return callbacks.AroundModel(next, func(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
		return func(yield func(*model.LLMResponse, error) bool) {
			cs, _ := callbacks.CurrentStep(ctx)
			if key, passed := first.At(ctx, cs.Place()).made(); !passed {
				if err := l.pass(ctx, key, callbacks.End); err != nil {
					yield(nil, err)
					return
				}
			}
			next.GenerateContent(ctx, req, stream)(yield)
		}
	})
}

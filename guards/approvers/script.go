// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package approvers

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/gardefou/gardefou/guards"
)

// A Reply is how a [Script] answers one question.
type Reply func(ctx context.Context, q guards.Question) (guards.Answer, error)

// Yes approves the call.
func Yes(_ context.Context, q guards.Question) (guards.Answer, error) {
	return q.Answer(true, "test"), nil
}

// No rejects the call.
func No(_ context.Context, q guards.Question) (guards.Answer, error) {
	return q.Answer(false, "test"), nil
}

// Always approves the call, and those like it for the rest of the Run.
func Always(_ context.Context, q guards.Question) (guards.Answer, error) {
	a := q.Answer(true, "test")
	a.Always = true
	return a, nil
}

// Never does not answer.
func Never(ctx context.Context, _ guards.Question) (guards.Answer, error) {
	<-ctx.Done()
	return guards.Answer{}, ctx.Err()
}

// ErrScriptOver is the error of a question after a script's last reply.
var ErrScriptOver = errors.New("approvers: the script is over")

// A Script is an approver for tests: it replies to one question after the other, and
// remembers them. It is safe for concurrent use.
type Script struct {
	mu        sync.Mutex
	replies   []Reply
	questions []guards.Question
}

// NewScript returns a script of replies.
func NewScript(replies ...Reply) *Script { return &Script{replies: replies} }

// Ask implements guards.Approver.
func (s *Script) Ask(ctx context.Context, q guards.Question) (guards.Answer, error) {
	s.mu.Lock()
	n := len(s.questions)
	s.questions = append(s.questions, q)
	s.mu.Unlock()
	if n >= len(s.replies) {
		return guards.Answer{}, ErrScriptOver
	}
	return s.replies[n](ctx, q)
}

// Questions returns what was asked so far.
func (s *Script) Questions() []guards.Question {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.questions)
}

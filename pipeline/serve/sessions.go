// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"sync"

	"google.golang.org/adk/v2/session"
)

// bounded keeps at most limit sessions: the oldest goes when one more comes. Sessions
// pass through untouched, which the service relies on.
func bounded(inner session.Service, limit int) session.Service {
	return &boundedSessions{Service: inner, limit: limit}
}

type boundedSessions struct {
	session.Service
	limit int

	mu  sync.Mutex
	ids []session.DeleteRequest
}

// Create implements session.Service.
func (b *boundedSessions) Create(ctx context.Context, req *session.CreateRequest) (*session.CreateResponse, error) {
	resp, err := b.Service.Create(ctx, req)
	if err != nil {
		return nil, err
	}
	s := resp.Session
	b.mu.Lock()
	b.ids = append(b.ids, session.DeleteRequest{AppName: s.AppName(), UserID: s.UserID(), SessionID: s.ID()})
	var oldest *session.DeleteRequest
	if len(b.ids) > b.limit {
		first := b.ids[0]
		oldest, b.ids = &first, b.ids[1:]
	}
	b.mu.Unlock()
	if oldest != nil {
		// One that its user deleted is gone already.
		_ = b.Delete(ctx, oldest)
	}
	return resp, nil
}

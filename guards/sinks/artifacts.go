// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sinks

import (
	"context"
	"slices"
	"unicode/utf8"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/artifact"

	"github.com/gardefou/gardefou/redact"
)

// artifacts masks text and refuses what it can't read. Names are the same for all of a
// service's methods: what was saved under a name is found under it.
type artifacts struct {
	artifact.Service
	r           *redact.Redactor
	names       *pseudonyms
	allowBinary bool
}

// Save implements artifact.Service.
func (a *artifacts) Save(ctx context.Context, req *artifact.SaveRequest) (*artifact.SaveResponse, error) {
	if req == nil || req.Part == nil {
		return a.Service.Save(ctx, req)
	}
	part, err := a.mask(req.Part)
	if err != nil {
		return nil, err
	}
	c := *req
	c.Part, c.FileName = part, a.names.of(req.FileName)
	return a.Service.Save(ctx, &c)
}

// Load implements artifact.Service.
func (a *artifacts) Load(ctx context.Context, req *artifact.LoadRequest) (*artifact.LoadResponse, error) {
	return a.Service.Load(ctx, renamed(req, func(c *artifact.LoadRequest) { c.FileName = a.names.of(c.FileName) }))
}

// Delete implements artifact.Service.
func (a *artifacts) Delete(ctx context.Context, req *artifact.DeleteRequest) error {
	return a.Service.Delete(ctx, renamed(req, func(c *artifact.DeleteRequest) { c.FileName = a.names.of(c.FileName) }))
}

// List implements artifact.Service.
func (a *artifacts) List(ctx context.Context, req *artifact.ListRequest) (*artifact.ListResponse, error) {
	resp, err := a.Service.List(ctx, req)
	if err != nil || resp == nil {
		return resp, err
	}
	c := *resp
	c.FileNames = slices.Clone(resp.FileNames)
	for i, name := range c.FileNames {
		c.FileNames[i] = a.names.of(name) // one that was saved before this service stood there
	}
	return &c, nil
}

// Versions implements artifact.Service.
func (a *artifacts) Versions(ctx context.Context, req *artifact.VersionsRequest) (*artifact.VersionsResponse, error) {
	return a.Service.Versions(ctx, renamed(req, func(c *artifact.VersionsRequest) { c.FileName = a.names.of(c.FileName) }))
}

// GetArtifactVersion implements artifact.Service.
func (a *artifacts) GetArtifactVersion(ctx context.Context, req *artifact.GetArtifactVersionRequest) (*artifact.GetArtifactVersionResponse, error) {
	return a.Service.GetArtifactVersion(ctx, renamed(req, func(c *artifact.GetArtifactVersionRequest) { c.FileName = a.names.of(c.FileName) }))
}

// renamed returns a changed copy of a request.
func renamed[T any](req *T, change func(*T)) *T {
	if req == nil {
		return nil
	}
	c := *req
	change(&c)
	return &c
}

func (a *artifacts) mask(part *genai.Part) (*genai.Part, error) {
	p := *part
	p.Text = a.r.String(part.Text)
	if b := part.InlineData; b != nil {
		c := *b
		switch {
		case utf8.Valid(b.Data):
			c.Data = []byte(a.r.String(string(b.Data)))
		case !a.allowBinary:
			return nil, ErrBinary
		}
		c.DisplayName = a.r.String(b.DisplayName)
		p.InlineData = &c
	}
	if part.FileData != nil {
		c := *part.FileData
		c.FileURI, c.DisplayName = a.r.String(c.FileURI), a.r.String(c.DisplayName)
		p.FileData = &c
	}
	return &p, nil
}

// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sinks_test

import (
	"context"
	"fmt"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/artifact"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"

	"github.com/gardefou/gardefou/guards/sinks"
)

func ExampleWrap() {
	files := artifact.InMemoryService()
	cfg, err := sinks.Wrap(runner.Config{SessionService: session.InMemoryService(), ArtifactService: files})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if _, err := cfg.ArtifactService.Save(ctx, &artifact.SaveRequest{
		AppName: "app", UserID: "u", SessionID: "s", FileName: "note.txt", Part: genai.NewPartFromText("write to alice@example.com"),
	}); err != nil {
		panic(err)
	}
	stored, err := files.Load(ctx, &artifact.LoadRequest{AppName: "app", UserID: "u", SessionID: "s", FileName: "note.txt"})
	if err != nil {
		panic(err)
	}
	fmt.Println(stored.Part.Text)
	// Output: write to [email redacted]
}

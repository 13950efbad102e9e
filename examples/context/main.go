// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Command context shows a conversation carried over from run to run in a SQLite file, with a
// window over its history. A scripted model stands in for a real one.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/glebarez/sqlite"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session/database"
	"google.golang.org/genai"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

func main() {
	dir, err := os.MkdirTemp("", "context")
	check(err)
	defer func() { check(os.RemoveAll(dir)) }()
	for day := range 6 { // nothing but the file stands between them
		remember(filepath.Join(dir, "sessions.db"), fmt.Sprintf("question of day %d", day+1))
	}
}

func remember(file, question string) {
	sessions, err := database.NewSessionService(sqlite.Open(file), &gorm.Config{Logger: logger.Discard})
	check(err)
	check(database.AutoMigrate(sessions))
	model := callbackstest.Script(callbackstest.Say("answer"))
	clerk, err := callbacks.New(guards.Window(4), guards.StablePrefix()).NewAgent(llmagent.Config{Name: "clerk", Model: model})
	check(err)
	r, err := runner.New(runner.Config{AppName: "context", Agent: clerk, SessionService: sessions, AutoCreateSession: true})
	check(err)
	ctx, run := callbacks.Start(context.Background())
	defer run.Close()
	for _, err := range run.Events(r.Run(ctx, "user", "session", genai.NewContentFromText(question, genai.RoleUser), agent.RunConfig{})) {
		check(err)
	}
	sent := model.Requests()[0].Contents
	fmt.Printf("%d messages, from %q to %q; prompt changes: %d\n", len(sent), sent[0].Parts[0].Text, sent[len(sent)-1].Parts[0].Text, len(guards.Records(ctx).PrefixChanges()))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

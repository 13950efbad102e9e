// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"

	"google.golang.org/adk/v2/agent"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
)

// say returns a sentence of the catalogue in the language of ctx's Run. A hook
// tested alone may have no context.
func say(ctx agent.Context, key text.Key, args ...any) string {
	if ctx == nil {
		return text.Get(text.English, key, args...)
	}
	return text.Get(text.Parse(callbacks.RunOf(ctx).Lang()), key, args...)
}

func contextOf(ctx agent.Context) context.Context {
	if ctx == nil {
		return nil
	}
	return ctx
}

func langOf(ctx context.Context) text.Lang {
	if ctx == nil {
		return text.English
	}
	return text.Parse(callbacks.RunOf(ctx).Lang())
}

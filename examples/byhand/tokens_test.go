// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package byhand_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// ADK calls after_model for every chunk and again for the whole answer, each with the
// usage on it.
func TestStreamedTokensAreCountedThreeTimes(t *testing.T) {
	const used = 10
	config := func() llmagent.Config {
		return llmagent.Config{Name: "agent", Model: callbackstest.Script(callbackstest.Stream("Hel", "lo").WithUsage(used, 1))}
	}

	t.Run("plain ADK", func(t *testing.T) {
		var counted int32
		cfg := config()
		cfg.AfterModelCallbacks = []llmagent.AfterModelCallback{func(_ agent.Context, resp *model.LLMResponse, _ error) (*model.LLMResponse, error) {
			counted += resp.UsageMetadata.PromptTokenCount
			return nil, nil
		}}
		run(t, plain(t, cfg))
		require.EqualValues(t, 3*used, counted)
	})
	t.Run("with the chain", func(t *testing.T) {
		var counted int32
		chain := callbacks.New(callbacks.Guard{Name: "meter", Observe: func(_ context.Context, ev callbacks.Event) {
			if ev.Usage != nil {
				counted += ev.Usage.PromptTokenCount
			}
		}})
		run(t, guarded(t, chain, config()))
		require.EqualValues(t, used, counted)
	})
}

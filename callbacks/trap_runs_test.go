// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/plugin"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// P15: any value a plugin hook returns switches off the plugins after it, so the
// chain returns one only where it changed something.
func TestP15ALaterPluginStillSeesTheUserMessage(t *testing.T) {
	p, err := callbacks.New(allow("a")).Plugin("p")
	require.NoError(t, err)
	seen := 0
	later, err := plugin.New(plugin.Config{Name: "later", OnUserMessageCallback: func(agent.InvocationContext, *genai.Content) (*genai.Content, error) {
		seen++
		return nil, nil
	}})
	require.NoError(t, err)
	a, err := llmagent.New(llmagent.Config{Name: "a", Model: callbackstest.Script(callbackstest.Say("answer"))})
	require.NoError(t, err)
	require.NoError(t, play(t, a, agent.StreamingModeNone, p, later).err)
	require.Equal(t, 1, seen)
}

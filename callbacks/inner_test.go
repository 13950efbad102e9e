// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// slowModel takes three seconds for each answer.
type slowModel struct{ model.LLM }

func (m slowModel) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		time.Sleep(3 * time.Second)
		m.LLM.GenerateContent(ctx, req, stream)(yield)
	}
}

// Inner is the time of the model and tool themselves; what guards take is the rest.
func TestInnerIsWithoutTheChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &callbackstest.Recorder{}
		slow := callbacks.Guard{
			Name: "slow",
			BeforeModel: func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
				time.Sleep(time.Second)
				return nil, nil
			},
			AfterTool: func(agent.Context, tool.Tool, map[string]any, map[string]any, error) (map[string]any, error) {
				time.Sleep(2 * time.Second)
				return nil, nil
			},
		}
		lookup := callbackstest.ToolFunc("lookup", func(agent.Context, map[string]any) (map[string]any, error) {
			time.Sleep(5 * time.Second)
			return map[string]any{"result": "ok"}, nil
		})
		script := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("done"))
		a, err := callbacks.New(slow, rec.Guard()).NewAgent(llmagent.Config{Name: "a", Model: slowModel{script}, Tools: []tool.Tool{lookup}})
		require.NoError(t, err)
		r, err := runner.New(runner.Config{AppName: "app", Agent: a, SessionService: session.InMemoryService(), AutoCreateSession: true})
		require.NoError(t, err)
		ctx, run := callbacks.Start(t.Context())
		defer run.Close()
		for _, err := range r.Run(ctx, "u", "s", genai.NewContentFromText("go", genai.RoleUser), agent.RunConfig{}) {
			require.NoError(t, err)
		}
		models, tools := rec.Events(callbacks.StepModel), rec.Events(callbacks.StepTool)
		require.Len(t, models, 2)
		for _, ev := range models {
			require.Equal(t, 3*time.Second, ev.Inner)
			require.Equal(t, 4*time.Second, ev.Duration)
		}
		require.Len(t, tools, 1)
		require.Equal(t, 5*time.Second, tools[0].Inner)
		require.Equal(t, 7*time.Second, tools[0].Duration)
	})
}

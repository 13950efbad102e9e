// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sinks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/loopagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/v2/artifact"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/agenttool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/sinks"
)

var spans = &spanLog{}

func TestMain(m *testing.M) {
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(sinks.SpanExporter(spans, nil))))
	os.Exit(m.Run())
}

// spanLog is a sink: it keeps whatever an exporter would send.
type spanLog struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *spanLog) ExportSpans(_ context.Context, list []sdktrace.ReadOnlySpan) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sp := range list {
		fmt.Fprintln(&s.buf, sp.Name(), sp.Status())
		for _, kv := range sp.Attributes() {
			fmt.Fprintln(&s.buf, kv.Key, kv.Value.String())
		}
		for _, ev := range sp.Events() {
			fmt.Fprintln(&s.buf, ev.Name, ev.Attributes)
		}
	}
	return nil
}

func (*spanLog) Shutdown(context.Context) error { return nil }

func (s *spanLog) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.buf.String()
	s.buf.Reset()
	return out
}

// canaries returns n values, half of them addresses and half IBANs with right check
// digits.
func canaries(n int) []string {
	var out []string
	for i := range n {
		if i%2 == 0 {
			out = append(out, fmt.Sprintf("canary%02d@planted-%02d.example", i, i))
			continue
		}
		bban := fmt.Sprintf("37040044%010d", 532013000+i)
		v, _ := new(big.Int).SetString(bban+"131400", 10)
		check := 98 - new(big.Int).Mod(v, big.NewInt(97)).Int64()
		out = append(out, fmt.Sprintf("DE%02d%s", check, bban))
	}
	return out
}

type safeError string

func (e safeError) Error() string     { return string(e) }
func (e safeError) ModelText() string { return string(e) }

const (
	llm        = "llm"
	sequential = "sequential"
	loop       = "loop"
	parallel   = "parallel"
	agentTool  = "agent_tool"
)

// Forty values go in through every door there is: none of them comes out in any sink,
// and the tool saw them as they were.
func TestCanaries(t *testing.T) {
	for _, form := range []string{"agent", "plugin"} {
		for _, streaming := range []bool{false, true} {
			for _, top := range []string{llm, sequential, loop, parallel, agentTool} {
				t.Run(fmt.Sprintf("%s/streaming=%v/%s", form, streaming, top), func(t *testing.T) { canary(t, form, streaming, top) })
			}
		}
	}
}

func canary(t *testing.T, form string, streaming bool, top string) {
	c := canaries(40)
	spans.take()
	var saw []map[string]any
	send := callbackstest.ToolFunc("send", func(ctx agent.Context, args map[string]any) (map[string]any, error) {
		saw = append(saw, args)
		if err := ctx.State().Set("kept", map[string]any{"deep": []any{c[20], c[21]}}); err != nil {
			return nil, err
		}
		for i, p := range []*genai.Part{genai.NewPartFromText("note " + c[22]), genai.NewPartFromBytes([]byte("{\"iban\":\""+c[23]+"\"}"), "application/json")} {
			if _, err := ctx.Artifacts().Save(ctx, fmt.Sprintf("file%d.txt", i), p); err != nil {
				return nil, err
			}
		}
		return map[string]any{"text": "for " + c[24], "list": []any{map[string]any{"iban": c[25]}}, c[26]: 1}, nil
	})
	broken := callbackstest.ToolFunc("broken", func(agent.Context, map[string]any) (map[string]any, error) {
		return nil, safeError("no answer for " + c[27])
	})
	failing := callbackstest.ToolFunc("failing", func(agent.Context, map[string]any) (map[string]any, error) {
		return nil, fmt.Errorf("dial tcp: %s and %s", c[28], c[29])
	})
	var chunks []string
	for _, r := range "Streamed " + c[30] + " and " + c[31] + ", then " + c[32] {
		chunks = append(chunks, string(r))
	}
	m := callbackstest.Script(
		callbackstest.Calls(
			callbackstest.Call("send", map[string]any{"to": c[10], "nested": map[string]any{"ibans": []any{c[11], c[13]}}, "note": "from " + c[12]}),
			callbackstest.Call("broken", map[string]any{"a": c[14]}),
			callbackstest.Call("failing", map[string]any{"a": c[15]}),
			callbackstest.Call("no_such_tool", map[string]any{"a": c[16]}),
		),
		callbackstest.Turn{Parts: []*genai.Part{{Text: "split " + c[33][:7]}, {Text: c[33][7:] + " end"}, {Text: "thinking of " + c[34], Thought: true}, genai.NewPartFromFunctionCall("send", map[string]any{"to": c[17]})}},
		callbackstest.Stream(chunks...),
	)
	var journal bytes.Buffer
	var mu sync.Mutex
	chain := callbacks.New()
	if form == "agent" {
		chain = callbacks.New(guards.Redact(), guards.Stash("send"), guards.Journal(writer(func(p []byte) { mu.Lock(); defer mu.Unlock(); journal.Write(p) })))
	}
	cfg, err := chain.Attach(llmagent.Config{
		Name: "guarded", Description: "The agent under test.", Model: m, Tools: []tool.Tool{send, broken, failing}, OutputKey: "out",
		DisallowTransferToParent: true, DisallowTransferToPeers: true,
	})
	require.NoError(t, err)
	if form == "plugin" {
		cfg = llmagent.Config{
			Name: "guarded", Description: "The agent under test.", Model: m, Tools: []tool.Tool{send, broken, failing}, OutputKey: "out",
			DisallowTransferToParent: true, DisallowTransferToPeers: true,
		}
		if top == agentTool {
			// ADK runs the inner agent without plugins: the chain stands there itself.
			cfg, err = callbacks.New(guards.Redact()).Attach(cfg)
			require.NoError(t, err)
		}
	}
	inner, err := llmagent.New(cfg)
	require.NoError(t, err)
	root := tree(t, top, inner, c)

	sessions, files := session.InMemoryService(), artifact.InMemoryService()
	rc, err := sinks.Wrap(runner.Config{AppName: "canary", Agent: root, SessionService: sessions, ArtifactService: files})
	require.NoError(t, err)
	_, err = rc.SessionService.Create(t.Context(), &session.CreateRequest{AppName: "canary", UserID: "u", SessionID: "s", State: map[string]any{"start": c[35], "list": []any{c[36]}}})
	require.NoError(t, err)
	r, err := runner.New(rc)
	require.NoError(t, err)
	ctx, run := callbacks.Start(t.Context())
	mode := agent.StreamingModeNone
	if streaming {
		mode = agent.StreamingModeSSE
	}
	var sink bytes.Buffer
	enc := json.NewEncoder(&sink)
	var streamed strings.Builder
	msg := genai.NewContentFromParts([]*genai.Part{genai.NewPartFromText("Research " + c[0] + " for " + c[1]), {Text: "and " + c[2][:5]}, {Text: c[2][5:]}}, genai.RoleUser)
	for ev, err := range run.Events(r.Run(ctx, "u", "s", msg, agent.RunConfig{StreamingMode: mode}, runner.WithStateDelta(map[string]any{"given": c[3]}))) {
		require.NoError(t, err)
		if ev.Partial {
			// ADK shares one state delta among the events of a step: the whole event
			// below holds it, and reading it here races with the step that goes on.
			require.NoError(t, enc.Encode(ev.LLMResponse))
		} else {
			require.NoError(t, enc.Encode(ev))
		}
		if ev.Partial && ev.Content != nil {
			for _, p := range ev.Content.Parts {
				streamed.WriteString(p.Text)
			}
		}
	}
	run.Close()
	require.Empty(t, m.Faults())

	got, err := sessions.Get(t.Context(), &session.GetRequest{AppName: "canary", UserID: "u", SessionID: "s"})
	require.NoError(t, err)
	for ev := range got.Session.Events().All() {
		require.NoError(t, enc.Encode(ev))
	}
	for k, v := range got.Session.State().All() {
		require.NoError(t, enc.Encode(map[string]any{k: v}))
	}
	if top != agentTool { // the inner run has an artifact service of ADK's own
		for i := range 2 {
			a, err := files.Load(t.Context(), &artifact.LoadRequest{AppName: "canary", UserID: "u", SessionID: "s", FileName: fmt.Sprintf("file%d.txt", i)})
			require.NoError(t, err)
			fmt.Fprintln(&sink, a.Part.Text)
			if a.Part.InlineData != nil {
				sink.Write(a.Part.InlineData.Data)
			}
		}
	}
	sink.WriteString(streamed.String())
	mu.Lock()
	sink.Write(journal.Bytes())
	mu.Unlock()
	exported := spans.take()
	require.Contains(t, exported, "execute_tool")
	sink.WriteString(exported)
	// Requests after the first carry no value of a call or a result either.
	for _, req := range m.Requests()[1:] {
		for _, content := range req.Contents[1:] {
			require.NoError(t, enc.Encode(content))
		}
	}
	for i, v := range c {
		if j := strings.Index(sink.String(), v); j >= 0 {
			t.Errorf("canary %d: …%s…", i, sink.String()[max(0, j-150):min(sink.Len(), j+60)])
		}
	}
	require.Len(t, saw, 2)
	require.Equal(t, c[10], saw[0]["to"], "the tool saw the values")
	require.Equal(t, map[string]any{"ibans": []any{c[11], c[13]}}, saw[0]["nested"])
	require.Equal(t, "from "+c[12], saw[0]["note"])
	require.Equal(t, c[17], saw[1]["to"])
}

func tree(t *testing.T, top string, inner agent.Agent, c []string) agent.Agent {
	t.Helper()
	base := agent.Config{Name: "root", SubAgents: []agent.Agent{inner}}
	var root agent.Agent
	var err error
	switch top {
	case sequential:
		root, err = sequentialagent.New(sequentialagent.Config{AgentConfig: base})
	case loop:
		root, err = loopagent.New(loopagent.Config{AgentConfig: base, MaxIterations: 1})
	case parallel:
		sibling, serr := llmagent.New(llmagent.Config{Name: "sibling", Model: callbackstest.Script(callbackstest.Say("mine"))})
		require.NoError(t, serr)
		base.SubAgents = append(base.SubAgents, sibling)
		root, err = parallelagent.New(parallelagent.Config{AgentConfig: base})
	case agentTool:
		root, err = llmagent.New(llmagent.Config{
			Name:  "outer",
			Model: callbackstest.Script(callbackstest.Call("guarded", map[string]any{"request": "look at " + c[4]}), callbackstest.Say("told "+c[5])),
			Tools: []tool.Tool{agenttool.New(inner, nil)},
		})
	default:
		root = inner
	}
	require.NoError(t, err)
	return root
}

type writer func([]byte)

func (w writer) Write(p []byte) (int, error) { w(p); return len(p), nil }

func TestBinaryArtifacts(t *testing.T) {
	for _, allow := range []bool{false, true} {
		rc, err := sinks.WrapWith(runner.Config{SessionService: session.InMemoryService(), ArtifactService: artifact.InMemoryService()}, sinks.Options{AllowBinary: allow})
		require.NoError(t, err)
		_, err = rc.ArtifactService.Save(t.Context(), &artifact.SaveRequest{AppName: "a", UserID: "u", SessionID: "s", FileName: "x.png", Part: genai.NewPartFromBytes([]byte{0x89, 0xff, 0x00}, "image/png")})
		if allow {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, sinks.ErrBinary)
		}
	}
}

func TestWrapRefusesNonsense(t *testing.T) {
	_, err := sinks.Wrap(runner.Config{})
	require.Error(t, err)
	rc, err := sinks.Wrap(runner.Config{SessionService: session.InMemoryService()})
	require.NoError(t, err)
	_, err = sinks.Wrap(rc)
	require.ErrorIs(t, err, sinks.ErrPluginFirst)
	require.Equal(t, sinks.PluginName, rc.PluginConfig.Plugins[0].Name())
}

// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbackstest_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

var errDisk = errors.New("disk full")

func TestPlay(t *testing.T) {
	clerk := func(turns ...callbackstest.Turn) llmagent.Config {
		return llmagent.Config{Name: "clerk", Model: callbackstest.Script(turns...), Tools: []tool.Tool{callbackstest.Tool("lookup")}}
	}
	var out strings.Builder
	a, err := llmagent.New(clerk(callbackstest.Call("lookup", map[string]any{"n": 1}), callbackstest.Say("found\nit")))
	require.NoError(t, err)
	res, err := callbackstest.Play(&out, a, "question")
	require.NoError(t, err)
	require.Equal(t, callbacks.StatusDone, res.Status)
	require.Equal(t, "clerk calls lookup {\"n\":1}\nlookup returns {\"result\":\"ok\"}\nclerk says \"found\\nit\"\nstatus: done\n", out.String())

	a, err = llmagent.New(clerk(callbackstest.Fail(errDisk)))
	require.NoError(t, err)
	_, err = callbackstest.Play(io.Discard, a, "question")
	require.ErrorIs(t, err, errDisk, "the run's error")

	a, err = llmagent.New(clerk(callbackstest.Say("found")))
	require.NoError(t, err)
	_, err = callbackstest.Play(brokenWriter{}, a, "question")
	require.ErrorIs(t, err, errDisk, "the writer's error")
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errDisk }

// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbackstest_test

import (
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// officeHours is a guard that somebody wrote.
func officeHours() callbacks.Guard {
	return callbacks.Guard{Name: "office_hours", BeforeTool: func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
		if h := time.Now().Hour(); h < 8 || h >= 18 {
			return nil, callbacks.Deny("closed", "come back between 8 and 18")
		}
		return nil, nil
	}}
}

// A guard that looks at the clock is tested by moving it.
func TestAGuardAndTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it is midnight in here
		require.Equal(t, map[string]any{"error": "come back between 8 and 18"},
			callbackstest.BeforeTool(t, officeHours(), callbackstest.Tool("pay"), nil))
		time.Sleep(9 * time.Hour)
		require.Nil(t, callbackstest.BeforeTool(t, officeHours(), callbackstest.Tool("pay"), nil))
	})
}

func ExampleAssertContract() {
	testOfficeHours := func(t *testing.T) { callbackstest.AssertContract(t, officeHours()) }
	_ = testOfficeHours // go test runs it
}

func ExampleRecord() {
	m := callbackstest.Record(callbackstest.Script(callbackstest.Say("It is solvent.")), os.Stdout) // a file, and a real model
	_, err := callbackstest.Replay(os.Stdin)
	fmt.Println(m.Name(), err)
	// Output: scripted <nil>
}

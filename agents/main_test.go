// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package agents

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package models_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/agents/models"
	"github.com/gardefou/gardefou/internal/standin"
)

func TestOptions(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", "")
	t.Setenv("GOOGLE_API_KEY", "")
	t.Setenv("OPENAI_API_KEY", "")
	for name, o := range map[string]models.Options{
		"unknown":             {Name: "claude"},
		"openai without name": {Name: "openai:"},
		"openai without URL":  {Name: "openai:x"},
		"gemini without key":  {Name: "gemini-x"},
		"URL with a user":     {Name: "openai:x", BaseURL: "http://user:pass@host/v1"},
		"URL with a query":    {Name: "openai:x", BaseURL: "http://host/v1?key=pass@word"},
		"URL with a fragment": {Name: "openai:x", BaseURL: "http://host/v1#pass@word"},
		"URL without scheme":  {Name: "openai:x", BaseURL: "localhost:11434"},
		"offline with URL":    {BaseURL: "http://localhost"},
		"negative time":       {Timeout: -1},
	} {
		_, err := models.New(t.Context(), o)
		require.ErrorIs(t, err, models.ErrOptions, name)
		require.NotContains(t, err.Error(), "pass@", name)
	}
	m, err := models.New(t.Context(), models.Options{})
	require.NoError(t, err)
	require.Equal(t, "offline", m.Name())
	// A key in the environment chooses nothing.
	t.Setenv("GEMINI_API_KEY", standin.Key)
	m, err = models.New(t.Context(), models.Options{})
	require.NoError(t, err)
	require.Equal(t, "offline", m.Name())
	require.Equal(t, standin.Key, os.Getenv("GEMINI_API_KEY"))
}

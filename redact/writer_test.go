// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gardefou/gardefou/redact"
	"github.com/stretchr/testify/require"
)

func TestWriter(t *testing.T) {
	var out bytes.Buffer
	w := redact.NewWriter(&out, redact.Must(redact.New(redact.Options{})))
	for _, chunk := range []string{"to ali", "ce@exam", "ple.com", ", FR76 3000 6000 0112 ", "3456 7890 189"} {
		n, err := w.Write([]byte(chunk))
		require.NoError(t, err)
		require.Equal(t, len(chunk), n)
	}
	require.Equal(t, "to [email redacted], ", out.String())
	require.NoError(t, w.Close())
	require.NoError(t, w.Close())
	require.Equal(t, "to [email redacted], [IBAN redacted]", out.String())
	_, err := w.Write([]byte("x"))
	require.ErrorIs(t, err, redact.ErrClosed)
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestWriterErrors(t *testing.T) {
	full := errors.New("disk full")
	w := redact.NewWriter(failing{full}, redact.Must(redact.New(redact.Options{})))
	_, err := w.Write([]byte("some text. "))
	require.ErrorIs(t, err, full)
	_, err = w.Write([]byte("more"))
	require.ErrorIs(t, err, full)
	require.ErrorIs(t, w.Close(), full)

	var out bytes.Buffer
	w = redact.NewWriter(&out, redact.Must(redact.New(redact.Options{Strategy: redact.Block})))
	_, err = w.Write([]byte("to " + mailAddress + " now"))
	require.ErrorIs(t, err, redact.ErrBlocked)
	require.Empty(t, out.String())
}

func TestWriterConcurrently(t *testing.T) {
	var out bytes.Buffer
	w := redact.NewWriter(&out, redact.Must(redact.New(redact.Options{})))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				_, _ = w.Write([]byte("to " + mailAddress + "\n"))
			}
		})
	}
	wg.Wait()
	require.NoError(t, w.Close())
	require.Equal(t, strings.Repeat("to [email redacted]\n", 400), out.String())
}

type hidden struct{ address string }

type lazy struct{}

func (lazy) LogValue() slog.Value { return slog.StringValue("lazily " + mailAddress) }

func TestHandler(t *testing.T) {
	for name, newHandler := range map[string]func(*bytes.Buffer) slog.Handler{
		"text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		"JSON": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			cycle := map[string]any{}
			cycle["self"] = cycle
			log := slog.New(redact.NewHandler(newHandler(&out), redact.Must(redact.New(redact.Options{}))))
			log.With("who", mailAddress).WithGroup("g-"+mailAddress).Info("mail to "+mailAddress,
				mailAddress, "key",
				"err", errors.New("no account "+account),
				"args", map[string]any{"iban": account, "n": 7},
				slog.Group("inner", "to", mailAddress),
				"hidden", hidden{mailAddress},
				"url", &url.URL{Scheme: "mailto", Opaque: mailAddress},
				"lazy", lazy{},
				"bytes", []byte(mailAddress),
				"cycle", cycle,
				"n", 42, "took", time.Second, "ok", true, "none", nil,
			)
			require.NotContains(t, out.String(), "alice")
			require.NotContains(t, out.String(), "3000 6000")
			require.Contains(t, out.String(), "[email redacted]")
			require.Contains(t, out.String(), "[IBAN redacted]")
			require.Contains(t, out.String(), "42")
			require.NotContains(t, out.String(), "BADKEY")
		})
	}
}

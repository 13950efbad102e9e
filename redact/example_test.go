// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact_test

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"github.com/gardefou/gardefou/redact"
)

func Example() {
	r := redact.Must(redact.New(redact.Options{}))
	fmt.Println(r.String("Write to alice@example.com, pay to FR76 3000 6000 0112 3456 7890 189."))
	for _, f := range r.Find("FR7630006000011234567890189, alice@example.com") {
		fmt.Println(f.Type, f.Start, f.End)
	}
	// Output:
	// Write to [email redacted], pay to [IBAN redacted].
	// IBAN 0 27
	// EMAIL 29 46
}

// French labels.
func Example_label() {
	r := redact.Must(redact.New(redact.Options{Language: "fr"}))
	fmt.Println(r.String("Écrire à élodie@exemple.fr, payer sur FR76 3000 6000 0112 3456 7890 189."))
	// Output: Écrire à [e-mail masqué], payer sur [IBAN masqué].
}

// A mask shows who holds the account or the mailbox, not whose it is.
func Example_mask() {
	r := redact.Must(redact.New(redact.Options{Strategy: redact.Mask}))
	fmt.Println(r.String("alice@example.com FR76 3000 6000 0112 3456 7890 189"))
	// Output: ***@example.com FR****0189
}

// A keyed hash tells equal values from others, however they are written.
func Example_hmac() {
	r := redact.Must(redact.New(redact.Options{
		Strategy: redact.HMAC,
		Key:      []byte("an example, not a secret to keep"),
	}))
	fmt.Println(r.String("FR76 3000 6000 0112 3456 7890 189") == r.String("fr7630006000011234567890189"))
	fmt.Println(r.String("alice@example.com") == r.String("bob@example.com"))
	// Output:
	// true
	// false
}

// A vault turns tokens back, for a tool that needs the values the model must
// not see.
func Example_token() {
	vault := redact.NewVault()
	r := redact.Must(redact.New(redact.Options{Strategy: redact.Token, Vault: vault}))

	args := map[string]any{"to": "alice@example.com", "amount": 12.5}
	stored, counts, _ := r.Value(args)
	fmt.Println(counts[redact.Email], stored.(map[string]any)["to"] != args["to"])

	revealed, _ := vault.RevealValue(stored)
	fmt.Println(revealed)

	_, err := redact.NewVault().RevealValue(stored)
	fmt.Println(err)
	// Output:
	// 1 true
	// map[amount:12.5 to:alice@example.com]
	// redact: value no longer available, ask again
}

// A text that holds a value doesn't pass.
func Example_block() {
	r := redact.Must(redact.New(redact.Options{
		Strategies: map[redact.Type]redact.Strategy{redact.IBAN: redact.Block},
	}))
	_, err := r.Redact("FR76 3000 6000 0112 3456 7890 189")
	fmt.Println(errors.Is(err, redact.ErrBlocked), err)
	fmt.Println(r.String("FR76 3000 6000 0112 3456 7890 189"))
	// Output:
	// true redact: text blocked: 1 values
	// [text blocked]
}

// The pieces a model streams are redacted as they come; what may be the
// beginning of a value waits for its end.
func ExampleRedactor_Stream() {
	r := redact.Must(redact.New(redact.Options{}))
	s := r.Stream()
	for _, chunk := range []string{"Write to ali", "ce@exam", "ple.com", " or pay FR76 3000", " 6000 0112 3456 7890 189", " today."} {
		fmt.Printf("%q\n", s.Write(chunk))
	}
	fmt.Printf("%q\n", s.Close(redact.Complete))
	fmt.Println(s.Counts())
	// Output:
	// "Write to "
	// ""
	// ""
	// "[email redacted] or pay "
	// ""
	// "[IBAN redacted] "
	// "today."
	// map[EMAIL:1 IBAN:1]
}

// A stream that breaks off says no half of a value.
func ExampleStream_Close() {
	s := redact.Must(redact.New(redact.Options{})).Stream()
	fmt.Printf("%q", s.Write("Pay to FR76 3000 6000 0112"))
	fmt.Printf(" %q\n", s.Close(redact.CutOff))
	// Output: "Pay to " "[IBAN redacted]"
}

// A pattern makes a type of its own. This one looks behind, which needs the
// backtracking engine.
func ExamplePattern() {
	r := redact.Must(redact.New(redact.Options{
		Patterns: []redact.Pattern{{Name: "badge", Expr: `(?<=badge )\d{4}`}},
	}))
	fmt.Println(r.String("badge 1234, room 1234"))
	// Output: badge [badge redacted], room 1234
}

func ExampleRedactor_Value() {
	r := redact.Must(redact.New(redact.Options{}))
	out, counts, _ := r.Value(map[string]any{
		"body": `{"cc":["bob@example.com"],"n":7}`, // JSON in a string
		"list": []any{"alice@example.com", true},
	})
	fmt.Println(out, counts)
	// Output: map[body:{"cc":["[email redacted]"],"n":7} list:[[email redacted] true]] map[EMAIL:2]
}

func ExampleRedactor_Error() {
	r := redact.Must(redact.New(redact.Options{}))
	err := r.Error(fmt.Errorf("mailbox of alice@example.com: %w", fs.ErrNotExist))
	fmt.Println(err)
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	// Output:
	// mailbox of [email redacted]: file does not exist
	// true
}

func ExampleNewHandler() {
	out := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	})
	log := slog.New(redact.NewHandler(out, redact.Must(redact.New(redact.Options{}))))
	log.Info("sent", "to", "alice@example.com")
	// Output: level=INFO msg=sent to="[email redacted]"
}

// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/gardefou/gardefou/agents/models"
	"github.com/gardefou/gardefou/guards/prices"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// readPrices is the price table, which is read once.
func (j *job) readPrices() (*prices.Table, error) {
	if j.table == nil {
		if j.priceFile == "" {
			return prices.Default(), nil
		}
		own, err := readPriceFile(j.priceFile)
		if err != nil {
			return nil, refuse("--price-file: %s", inOneLine(err))
		}
		j.table = prices.Default().Override(own)
	}
	return j.table, nil
}

// prices is readPrices for a run. That rows of the price file can't be used is reported once.
func (j *job) prices() (*prices.Table, error) {
	table, err := j.readPrices()
	if err != nil {
		return nil, err
	}
	if n := len(table.Refused()); n > 0 && j.p != nil && !j.unusable {
		j.unusable = true
		j.p.line("%s", unusable(j.lang, j.priceFile, n))
	}
	return table, nil
}

// maxPriceFile is many times the size of LiteLLM's file.
const maxPriceFile = 64 << 20

func readPriceFile(name string) (*prices.Table, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(file, maxPriceFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxPriceFile {
		return nil, fmt.Errorf("%s is larger than %d MiB", name, maxPriceFile>>20)
	}
	// The file has no date of its own: it is as old as it was written.
	return prices.ParseLiteLLM(data, prices.LiteLLMOptions{AsOf: prices.Date(info.ModTime().UTC().Format(time.DateOnly))})
}

// inOneLine is what an error says about a price file, whatever stands in that.
func inOneLine(err error) string {
	return supplier.Clean(strings.ReplaceAll(err.Error(), "\n", "; "), maxRefusedRow)
}

// unusable says how many rows of the price file can't be used: a call of such a model is
// refused, and the row may be the one that was meant.
func unusable(lang text.Lang, file string, rows int) string {
	return text.Get(lang, text.PricesUnusable, rows, "duediligence prices --price-file "+quoted(file))
}

// refusedPrices are the rows of the price file that can't be used, and why, each in a line.
func refusedPrices(table *prices.Table, filter prices.Filter) []string {
	var lines []string
	for _, err := range table.Refused() {
		var row *prices.RowError
		if filter.Model != "" && (!errors.As(err, &row) || !strings.Contains(strings.ToLower(row.Row), strings.ToLower(filter.Model))) {
			continue
		}
		lines = append(lines, inOneLine(err))
	}
	return lines
}

// maxRefusedRow is how much is shown of why a row can't be used.
const maxRefusedRow = 300

func newPricesCommand() *cobra.Command {
	var c config
	cmd := &cobra.Command{
		Use:     "prices [MODEL]",
		Short:   "List the prices that --budget reckons with",
		Long:    "Lists the built-in price table, or one with an override file: who bills, which model, USD per million tokens of input and output, since when, where it was read. Then the rows of that file that can't be used: calls of their models have no price.",
		Example: "  duediligence prices\n  duediligence prices flash --backend gemini\n  duediligence prices --price-file model_prices_and_context_window.json gpt",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := newJob(c)
			if err != nil {
				return err
			}
			table, err := j.readPrices()
			if err != nil {
				return err
			}
			filter := c.prices
			if len(args) == 1 {
				filter.Model = args[0]
				if backend, bare := models.Billed(args[0]); bare != args[0] { // as --model names it
					filter.Backend, filter.Model = cmp.Or(filter.Backend, backend), bare
				}
			}
			rows := table.List(filter)
			out := cmd.OutOrStdout()
			days := int(table.Age(time.Now()).Hours() / 24)
			fmt.Fprintf(out, "Table %s of %s, %d days old, SHA-256 %.12s…\n", table.ID(), table.Generated().Format(time.DateOnly), days, table.SHA256())
			if refused := refusedPrices(table, filter); len(refused) > 0 {
				// Whatever their seller: the row may be refused for not naming one.
				defer fmt.Fprintf(out, "\n%s\n  %s\n", text.Get(j.lang, text.PricesUnused, len(refused)), strings.Join(refused, "\n  "))
			}
			if len(rows) == 0 {
				return &exitError{exitNotFound, "duediligence: no such price; duediligence prices lists all"}
			}
			w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
			fmt.Fprintln(w, "backend\tmodel\tservice\tinput\toutput\tfrom\tas of\tsource")
			for _, r := range rows {
				source := ""
				if len(r.Source) > 0 {
					source = r.Source[0]
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Backend, r.Model, r.Service, r.Rates.Input.PerMillion(), r.Rates.Output.PerMillion(), r.From, r.AsOf, source)
			}
			return w.Flush()
		},
	}
	c.register(cmd, onPrices)
	return cmd
}

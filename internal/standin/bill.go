// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"fmt"

	"google.golang.org/genai"

	"github.com/gardefou/gardefou/guards/prices"
)

// A Bill is what a stand-in would ask for, in pico-USD.
type Bill prices.Pico

// USD is the bill in US dollars, for comparing with a limit.
func (b Bill) USD() float64 { return float64(b) / 1e12 }

// Bill returns what the answers so far cost at the built-in price of a model, by the
// usage the server itself reported.
func (s *Server) Bill(backend, name string) (Bill, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var total prices.Pico
	for _, row := range prices.Default().List(prices.Filter{Backend: backend, Model: name}) {
		if row.Model != name || row.Service != "" {
			continue
		}
		for _, u := range s.usage {
			total += prices.Pico(u.PromptTokenCount)*row.Rates.Input + prices.Pico(u.CandidatesTokenCount+u.ThoughtsTokenCount)*row.Rates.Output
		}
		return Bill(total), nil
	}
	return 0, fmt.Errorf("standin: %s has no price for %s", backend, name)
}

// Charge bills a use for a request that a fault answers, or leaves without an answer: a
// provider bills what it worked on.
func (s *Server) Charge(prompt, output int32) {
	s.bill(&genai.GenerateContentResponseUsageMetadata{PromptTokenCount: prompt, CandidatesTokenCount: output})
}

func (s *Server) bill(u *genai.GenerateContentResponseUsageMetadata) {
	if u == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.usage = append(s.usage, *u)
}

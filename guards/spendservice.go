// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"fmt"
	"net/http"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/guards/prices"
)

// optionsOf are the HTTP options that decide over a request: its own, and those of its
// client where they can be seen. ADK's model for Gemini shows its client.
func optionsOf(m model.LLM, cfg *genai.GenerateContentConfig) (all []genai.HTTPOptions) {
	if cfg != nil && cfg.HTTPOptions != nil {
		all = append(all, *cfg.HTTPOptions)
	}
	if shown, ok := m.(interface{ Client() *genai.Client }); ok {
		if client := shown.Client(); client != nil {
			all = append(all, client.ClientConfig().HTTPOptions)
		}
	}
	return all
}

// tierHeader begins the names of headers that choose a service tier on Vertex AI.
const tierHeader = "X-Vertex-Ai-Llm-"

// checkOptions refuses options that rewrite the request behind the bounds, and returns the
// service tier that others ask for: [prices.AnyService] or none.
func checkOptions(all []genai.HTTPOptions) (service string, err error) {
	for _, o := range all {
		if len(o.ExtraBody) > 0 || o.ExtrasRequestProvider != nil {
			return "", fmt.Errorf("%w: HTTPOptions.ExtraBody and ExtrasRequestProvider rewrite the request after it was bounded", prices.ErrUnbounded)
		}
		for name := range o.Headers {
			if strings.HasPrefix(http.CanonicalHeaderKey(name), tierHeader) {
				service = prices.AnyService
			}
		}
	}
	return service, nil
}

// quotes returns the prices for the service tier that a request asks for, and with them
// those of the standard tier, in which it may be served: an adapter may not know the
// field, and a backend may have no room in the tier.
func (c *paidCall) quotes(service string, cfg *genai.GenerateContentConfig) (asked, all prices.Quote, err error) {
	if cfg != nil && service == "" {
		switch tier := genai.ServiceTier(strings.ToLower(string(cfg.ServiceTier))); tier {
		case "", genai.ServiceTierUnspecified, genai.ServiceTierStandard:
		case genai.ServiceTierFlex, genai.ServiceTierPriority:
			service = string(tier)
		default:
			return asked, all, fmt.Errorf("%w: the service tier %q is not known", prices.ErrUnbounded, tier)
		}
	}
	if asked, err = c.quoteOf(service); err != nil || service == "" || service == prices.AnyService {
		return asked, asked, err
	}
	if all, err = c.quoteOf(""); err != nil {
		return asked, all, err
	}
	all.Rows = append(append([]prices.Row(nil), asked.Rows...), all.Rows...)
	if b := c.s.o.Backend; b != "gemini" && b != "vertex_ai" {
		asked = all // the adapter may have dropped the field
	}
	return asked, all, nil
}

// servedAt returns the prices for the service tier in which the backend says that it served
// the call, or else for the one that was asked for.
func (c *paidCall) servedAt() (prices.Quote, error) {
	service := prices.AnyService
	switch c.traffic {
	case "", genai.TrafficTypeUnspecified:
		return c.asked, nil
	case genai.TrafficTypeOnDemand:
		service = ""
	case genai.TrafficTypeOnDemandFlex:
		service = string(genai.ServiceTierFlex)
	case genai.TrafficTypeOnDemandPriority:
		service = string(genai.ServiceTierPriority)
	}
	q, err := c.quoteOf(service)
	if err != nil {
		q, err = c.quoteOf(prices.AnyService)
	}
	return q, err
}

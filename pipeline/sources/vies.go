// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/gardefou/gardefou/pipeline/supplier"
)

// viesAnswer is the wire shape of a VIES look-up.
type viesAnswer struct {
	Valid  *bool  `json:"isValid"`
	Error  string `json:"userError"`
	Name   string `json:"name"`
	Number string `json:"vatNumber"`
}

// VATCheck is what the tax administration of a VAT number's country says about
// it.
type VATCheck struct {
	Evidence string `json:"evidence"`
	Number   string `json:"number"`
	Valid    bool   `json:"valid"`
	Name     string `json:"name,omitempty"` // empty where the country does not disclose it
}

// decodeVAT reads an answer about number. "Not valid" counts only with the code
// INVALID: every other code means that nobody looked.
func decodeVAT(body []byte, number string) (viesAnswer, error) {
	var v viesAnswer
	if err := json.Unmarshal(body, &v); err != nil || v.Valid == nil || v.Error == "" {
		return v, errMalformed
	}
	if v.Number != "" && v.Number != number {
		return v, errOtherCompany
	}
	return v, nil
}

// checkVAT asks VIES about a VAT number with its country prefix.
func (c *Client) checkVAT(ctx context.Context, vat string) (Envelope, viesAnswer) {
	country, number := vat[:2], vat[2:]
	env, body := c.get(ctx, c.vies, "/taxation_customs/vies/rest-api/ms/"+country+"/vat/"+number, nil, gone)
	if body == nil {
		return env, viesAnswer{}
	}
	v, err := decodeVAT(body, number)
	switch {
	case err != nil:
		env.failDecode(err)
	case *v.Valid, v.Error == "INVALID":
	case strings.HasSuffix(v.Error, "MAX_CONCURRENT_REQ"), strings.HasSuffix(v.Error, "MAX_CONCURRENT_REQ_TIME"):
		env.fail(StatusRateLimited, FailRateLimit, "too many requests at the tax administration")
	default:
		env.fail(StatusUnavailable, FailMember, "the tax administration gave no answer")
	}
	return env, v
}

// disclosed is a name that VIES returned; "---" means that the country does not
// disclose it.
func (v viesAnswer) disclosed() string {
	if strings.Trim(v.Name, "- ") == "" {
		return ""
	}
	return cleanName(v.Name)
}

// vatCheck checks the VAT number that the registry publishes for the subject. A
// company below the threshold has none: that is no risk and nothing is asked.
func (c *Client) vatCheck(ctx context.Context, s supplier.Subject, published []string) Answer[VATCheck] {
	vat := s.VAT
	if len(published) > 0 {
		vat = published[0]
	}
	id, err := supplier.ParseIdentifier(vat)
	if err != nil || id.Kind != supplier.KindVAT {
		return notAsked[VATCheck](c.vies, StatusNotApplicable, FailNoIdentifier, "no VAT number is published for this company")
	}
	a := Answer[VATCheck]{Items: []VATCheck{}}
	env, v := c.checkVAT(ctx, id.Value)
	a.Envelope = env
	if env.Status != StatusOK {
		return a
	}
	day := a.RetrievedAt.Format(time.DateOnly)
	ev := a.cite("E-VAT-001", env.Query.link(), "VIES: VAT number "+id.Value, day)
	a.Items = append(a.Items, VATCheck{Evidence: ev, Number: id.Value, Valid: *v.Valid, Name: v.disclosed()})
	return a
}

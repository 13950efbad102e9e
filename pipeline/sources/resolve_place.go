// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/gardefou/gardefou/pipeline/supplier"
)

// resolveInPlace searches the first part of "Orvelle, Lyon" where the second
// says. One active unit of that name there is the one; more are candidates.
func (c *Client) resolveInPlace(ctx context.Context, q supplier.Query) (supplier.Resolution, bool) {
	name, place, ok := supplier.SplitPlace(q.Name)
	if !ok {
		return supplier.Resolution{}, false
	}
	filter := url.Values{}
	if place.Department != "" {
		filter.Set("departement", place.Department)
	}
	if place.PostalCode != "" {
		filter.Set("code_postal", place.PostalCode)
	}
	env, units, total := c.searchAll(ctx, name, filter)
	if env.Status != StatusOK {
		return unreadable(q, env), true
	}
	if place.Town != "" {
		total -= len(units)
		units = slices.DeleteFunc(units, func(u rechercheUnit) bool {
			return !strings.HasPrefix(supplier.Fold(u.HeadOffice.City), place.Town)
		})
		total += len(units)
	}
	if len(units) == 0 {
		return supplier.Resolution{}, false
	}
	return settle(q, supplier.Normalize(name), units, total), true
}

// anyExact reports whether some candidate bears the whole name asked for.
func anyExact(r supplier.Resolution) bool {
	return r.Status == supplier.StatusResolved ||
		slices.ContainsFunc(r.Candidates, func(c supplier.Candidate) bool { return c.Match == supplier.MatchExact })
}

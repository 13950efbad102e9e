// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"slices"

	"github.com/gardefou/gardefou/pipeline/supplier"
)

// resolveLEI looks a LEI up. A French record leads on to the SIREN it gives.
func (c *Client) resolveLEI(ctx context.Context, q supplier.Query) supplier.Resolution {
	env, record := c.leiByCode(ctx, q.ID.Value)
	switch {
	case env.Status == StatusNotFound:
		return supplier.Resolution{Status: supplier.StatusNotFound, Query: q, Reason: supplier.ReasonUnknownIdentifier}
	case env.Status != StatusOK:
		return unreadable(q, env)
	}
	lei := record.lei()
	if siren := onlyDigits(lei.RegisteredAs); lei.Country == "FR" && supplier.ValidSIREN(siren) {
		known := q
		known.ID.SIREN = siren
		r := c.resolveIdentifier(ctx, known)
		r.Query = q
		if r.Status == supplier.StatusResolved {
			r.Subject.LEI = lei.LEI
		}
		return r
	}
	subject := supplier.Subject{
		LegalName: lei.LegalName, Country: lei.Country, LEI: lei.LEI, City: lei.City,
		PostalCode: cleanName(record.Attributes.Entity.Address.PostalCode), Notes: slices.Clone(q.Notes),
	}
	if q.Name != "" && !goesBy(q.Name, record.names()...) {
		return mismatch(q, ofSubject(subject))
	}
	return supplier.Resolution{Status: supplier.StatusResolved, Query: q, Total: 1, Subject: subject}
}

// names are those a record gives its entity, the legal one first.
func (r gleifRecord) names() []string {
	names := []string{r.Attributes.Entity.LegalName.Name}
	for _, other := range slices.Concat(r.Attributes.Entity.OtherNames, r.Attributes.Entity.LatinNames) {
		names = append(names, other.Name)
	}
	return names
}

// goesBy reports whether name is, or is contained in, one of those registered: enough to
// confirm a number, not enough to find one.
func goesBy(name string, registered ...string) bool {
	query := supplier.Normalize(name)
	return slices.ContainsFunc(registered, func(r string) bool {
		return supplier.CompareNames(query, supplier.Normalize(r)) != supplier.MatchNone
	})
}

// resolveVAT asks VIES about a VAT number from outside France. Germany and
// Spain do not disclose the name: the number is known valid and nobody is
// named.
func (c *Client) resolveVAT(ctx context.Context, q supplier.Query) supplier.Resolution {
	env, v := c.checkVAT(ctx, q.ID.Value)
	switch {
	case env.Status != StatusOK:
		return unreadable(q, env)
	case !*v.Valid:
		return supplier.Resolution{Status: supplier.StatusNotFound, Query: q, Reason: supplier.ReasonUnknownIdentifier}
	case v.disclosed() == "":
		return supplier.Resolution{
			Status: supplier.StatusNotFound, Query: q, Reason: supplier.ReasonNameNotDisclosed,
			Detail: "VAT number valid, name not disclosed by " + q.ID.Country,
		}
	}
	country := q.ID.Country
	switch country {
	case "EL":
		country = "GR" // VIES has its own code for Greece
	case "XI":
		country = "GB"
	}
	subject := supplier.Subject{LegalName: v.disclosed(), Country: country, VAT: q.ID.Value, Notes: slices.Clone(q.Notes)}
	if q.Name != "" && !goesBy(q.Name, subject.LegalName) {
		return mismatch(q, ofSubject(subject))
	}
	return supplier.Resolution{Status: supplier.StatusResolved, Query: q, Total: 1, Subject: subject}
}

// resolveRNA searches the registry for an association's number, which it also
// indexes; the one result must carry it.
func (c *Client) resolveRNA(ctx context.Context, q supplier.Query) supplier.Resolution {
	env, a := c.searchRegistry(ctx, q.ID.Value, 1, nil)
	if env.Status != StatusOK {
		return unreadable(q, env)
	}
	for _, u := range *a.Results {
		if u.Complements.RNA == q.ID.Value {
			if q.Name != "" && !bears(u, q.Name) {
				return mismatch(q, candidate(u, matched{}))
			}
			subject := u.subject()
			subject.Notes = slices.Clone(q.Notes)
			return supplier.Resolution{Status: supplier.StatusResolved, Query: q, Subject: subject, Total: 1}
		}
	}
	return supplier.Resolution{Status: supplier.StatusNotFound, Query: q, Reason: supplier.ReasonUnknownIdentifier}
}

// abroad looks for a name that the French registry does not hold among the
// holders of a LEI. It never resolves: a name is not an identifier, and few
// small companies hold one.
func (c *Client) abroad(ctx context.Context, q supplier.Query, query supplier.Name) supplier.Resolution {
	r := supplier.Resolution{Status: supplier.StatusNotFound, Query: q, Reason: supplier.ReasonUnknownName}
	env, records := c.leisWhere(ctx, "entity.legalName", q.Name)
	if !env.Status.Read() {
		r.Detail = "the French registry holds no such name; GLEIF could not be read"
		return r
	}
	for _, record := range records {
		lei := record.lei()
		m := supplier.CompareNames(query, supplier.Normalize(record.Attributes.Entity.LegalName.Name))
		if m == supplier.MatchNone {
			continue
		}
		r.Candidates = append(r.Candidates, supplier.Candidate{
			LegalName: lei.LegalName, LEI: lei.LEI, Country: lei.Country, City: lei.City, Ceased: !lei.Active,
			Created: lei.Created, MatchedOn: supplier.MatchedLegalName, Match: m,
		})
	}
	if len(r.Candidates) > 0 {
		r.Status, r.Reason, r.Total = supplier.StatusCandidates, supplier.ReasonForeignCandidates, len(r.Candidates)
	}
	return r
}

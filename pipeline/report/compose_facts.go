// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

func (c *composer) identity() {
	c.heading(2, "identity")
	f := c.r.Facts.Registry
	if f == nil || len(f.Company.Items) == 0 {
		c.checked("company")
	}
	if f == nil {
		return
	}
	var rows [][]cell
	add := func(key, value string, ids ...string) {
		if value != "" {
			rows = append(rows, []cell{plain(c.say(key)), plain(value), c.refs(ids...)})
		}
	}
	if len(f.Company.Items) == 1 {
		c.companyRows(f.Company.Items[0], add)
	}
	for _, v := range f.VAT.Items {
		key := "vat.invalid"
		if v.Valid {
			key = "vat.valid"
		}
		add("vat", c.say(key, "number", v.Number), v.Evidence)
	}
	for _, l := range f.LEI.Items {
		status := "ceased"
		if l.Active {
			status = "active"
		}
		if len(f.Company.Items) == 0 {
			add("legal_name", l.LegalName, l.Evidence)
			add("country", l.Country, l.Evidence)
			add("address", l.City, l.Evidence)
			add("created", c.date(l.Created), l.Evidence)
		}
		add("lei", c.say("lei.value", "lei", l.LEI, "status", c.say(status), "registration", l.Registration), l.Evidence)
	}
	c.tabular(c.columns("field", "value", "evidence_column"), rows)
	if len(f.Company.Items) == 1 && f.Company.Items[0].Masked {
		c.sentence("masked")
	}
}

func (c *composer) companyRows(x sources.Company, add func(key, value string, ids ...string)) {
	add("legal_name", x.LegalName, x.Evidence)
	add("trade_names", strings.Join(x.TradeNames, ", "), x.Evidence)
	add("acronym", x.Acronym, x.Evidence)
	add("siren", c.siren(x.SIREN), x.Evidence)
	if slices.Contains(c.r.Subject.Notes, supplier.NoteEstablishment) {
		add("siret.asked", c.r.Subject.SIRET, x.Evidence)
	} else {
		add("siret", c.r.Subject.SIRET, x.Evidence)
	}
	form := x.LegalForm
	if name := supplier.FormOfNatureJuridique(form); name != "" {
		form += " (" + name + ")"
	}
	add("legal_form", form, x.Evidence)
	add("activity", x.Activity, x.Evidence)
	add("category", x.Category, x.Evidence)
	if x.Headcount != "" && x.Headcount != "none_or_unknown" {
		add("headcount", c.say("headcount.value", "band", x.Headcount, "year", x.HeadcountYear), x.Evidence)
	}
	add("address", x.Address, x.Evidence)
	add("created", c.date(x.Created), x.Evidence)
	add("closed", c.date(x.Closed), x.Evidence)
	if x.OpenEstablishments != nil {
		add("establishments", strconv.Itoa(*x.OpenEstablishments)+" / "+strconv.Itoa(x.Establishments), x.Evidence)
	}
	officers := join(x.Officers, func(o sources.Officer) string {
		if o.Role == "" {
			return o.Name
		}
		return o.Name + " (" + o.Role + ")"
	})
	if officers == "" {
		officers = c.say("officers.none")
	}
	add("officers", officers, x.Evidence)
}

func (c *composer) status() {
	c.heading(2, "status")
	f := c.r.Facts.Registry
	if f == nil {
		c.checked("procedures")
		return
	}
	var rows [][]cell
	if len(f.Company.Items) == 1 {
		status := "ceased"
		if f.Company.Items[0].Active {
			status = "active"
		}
		rows = append(rows, []cell{plain(c.say("status.registry")), strong(c.say(status)), c.refs(f.Company.Items[0].Evidence)})
	}
	if state := string(f.Insolvency.State); state != "" {
		text := c.say("insolvency." + state)
		if f.Insolvency.Since != "" {
			text = c.say("procedure.since", "state", text, "date", c.date(f.Insolvency.Since))
		}
		rows = append(rows, []cell{plain(c.say("procedure")), strong(text), c.refs(f.Insolvency.Evidence...)})
	}
	if f.RecentChanges != nil && len(f.Changes.Evidence) > 0 {
		rows = append(rows, []cell{plain(c.say("recent_changes")), plain(strconv.Itoa(*f.RecentChanges)), c.refs(f.Changes.Evidence[0].ID)})
	}
	c.tabular(c.columns("field", "value", "evidence_column"), rows)
	if f.Insolvency.Unclear {
		c.sentence("unclear")
	}
	c.checked("procedures")
	c.notices(f.Procedures.Items)
	c.checked("changes")
	c.notices(f.Changes.Items)
}

func (c *composer) notices(items []sources.Notice) {
	var rows [][]cell
	for _, n := range items {
		text := n.Nature
		if text == "" {
			text = n.Text
		}
		effect := ""
		switch {
		case n.Dropped != "":
			effect = c.say("dropped." + n.Dropped)
		case n.Effect != "":
			effect = c.say("effect." + string(n.Effect))
		case n.Role != "":
			effect = c.say("role." + n.Role)
		}
		rows = append(rows, []cell{plain(c.date(n.Published)), plain(cleaned(text)), plain(c.date(n.Decided)), plain(effect), c.refs(n.Evidence)})
	}
	c.tabular(c.columns("published", "text", "decided", "effect", "evidence_column"), rows)
}

func (c *composer) finances() {
	c.heading(2, "finances")
	f := c.r.Facts.Finances
	c.checked("accounts")
	if f == nil {
		return
	}
	var rows [][]cell
	for _, a := range f.Accounts.Items {
		rows = append(rows, []cell{
			plain(c.date(a.YearEnd) + " (" + a.Perimeter + ")"), plain(c.amount(a.Turnover)), plain(c.amount(a.NetResult)),
			plain(c.number(a.EquityRatio, "\u00a0%")), plain(c.number(a.LiquidityRatio, "\u00a0%")), plain(c.number(a.RepaymentYears, c.say("years"))),
			plain(c.number(a.CustomerDays, c.say("days"))), plain(c.number(a.SupplierDays, c.say("days"))), plain(a.Confidentiality), c.refs(a.Evidence),
		})
	}
	c.tabular(c.columns("year_end", "turnover", "net_result", "equity_ratio", "liquidity", "repayment", "customer_days", "supplier_days", "confidentiality", "evidence_column"), rows)
	if len(rows) > 0 {
		c.sentence("perimeter")
	}
	if len(c.r.Risk.RejectedAccounts) > 0 {
		c.heading(3, "rejected")
		var items [][]inline
		for _, x := range c.r.Risk.RejectedAccounts {
			items = append(items, plain(c.date(x.YearEnd)+" ("+x.Perimeter+") — "+c.say("rejected."+x.Why)))
		}
		c.list(items)
	}
	c.checked("figures")
	rows = nil
	for _, x := range f.Figures.Items {
		rows = append(rows, []cell{plain(x.Year), plain(c.amount(x.Turnover)), plain(c.amount(x.NetResult)), c.refs(x.Evidence)})
	}
	c.tabular(c.columns("figures_year", "turnover", "net_result", "evidence_column"), rows)
	c.checked("deposits")
	c.notices(f.Deposits.Items)
	if f.Transparency != "" {
		c.sentence("transparency." + string(f.Transparency))
	}
}

func (c *composer) ownership() {
	c.heading(2, "ownership")
	if c.r.Subject.Country == "FR" {
		c.sentence("ownership.text")
	} else {
		c.sentence("ownership.abroad")
	}
}

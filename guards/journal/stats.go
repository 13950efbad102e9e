// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"cmp"
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/gardefou/gardefou/guards/journal/line"
	"github.com/gardefou/gardefou/guards/ledger"
)

// Stats are the figures of a journal of any number of runs.
type Stats struct {
	Runs RunStats `json:"runs"`
	// Agents and Tools are sorted by name, Guards by how often they refused.
	Agents []AgentStats `json:"agents"`
	Tools  []ToolStats  `json:"tools"`
	Guards []GuardStats `json:"guards"`
	// Turns counts, by the number of model calls an agent made in a run, how often that
	// was so.
	Turns map[int]int `json:"turns"`
	// Slowest are the steps that took longest, at most ten.
	Slowest []line.Line `json:"slowest"`
	// Charged is what was paid, Reserved the most it could have cost, in nano-USD; both
	// zero where no money gate stood.
	Charged  ledger.Nano `json:"charged"`
	Reserved ledger.Nano `json:"reserved"`
	// Unreadable counts lines that could not be read, Lost those that the writer says it
	// could not write.
	Unreadable int    `json:"unreadable"`
	Lost       uint64 `json:"lost"`
}

// RunStats say how runs ended.
type RunStats struct {
	Total int `json:"total"`
	// ByStatus counts runs by the status of their end line; those without one, which were
	// killed or still go on, are under "unfinished".
	ByStatus map[string]int `json:"by_status"`
	// OtherThanDone is the share of runs, 0 to 1, that ended otherwise than done or landed.
	OtherThanDone float64 `json:"other_than_done"`
}

// StatusUnfinished is the status of a run without an end line.
const StatusUnfinished = "unfinished"

// AgentStats are the figures of one agent.
type AgentStats struct {
	Agent string `json:"agent"`
	// Runs is in how many runs it made a step, Calls how many calls of its model.
	Runs  int `json:"runs"`
	Calls int `json:"calls"`
	// Tokens, as the provider counted them. CacheShare is cached over in, 0 to 1.
	In         int64   `json:"tokens_in"`
	Out        int64   `json:"tokens_out"`
	Thinking   int64   `json:"tokens_thinking"`
	Cached     int64   `json:"tokens_cached"`
	CacheShare float64 `json:"cache_share"`
	Refusals   int     `json:"refusals"`
	// Landings is how often its last call was taken for the answer; LandingRate is that
	// over Runs.
	Landings    int     `json:"landings"`
	LandingRate float64 `json:"landing_rate"`
	// P50 and P95 are quantiles of the model calls in one run. Suggested is the limit they
	// suggest: one call more than 95 in 100 runs needed, kept for the answer.
	P50       int         `json:"p50_calls"`
	P95       int         `json:"p95_calls"`
	Suggested int         `json:"suggested_limit"`
	Charged   ledger.Nano `json:"charged"`

	turns map[int]int
}

// ToolStats are the figures of one tool.
type ToolStats struct {
	Tool     string      `json:"tool"`
	Calls    int         `json:"calls"`
	Errors   int         `json:"errors"`
	Refusals int         `json:"refusals"`
	MeanMS   int64       `json:"mean_ms"`
	MaxMS    int64       `json:"max_ms"`
	Charged  ledger.Nano `json:"charged"`

	ms int64
}

// GuardStats count what one guard refused, by code.
type GuardStats struct {
	Guard    string `json:"guard"`
	Code     string `json:"code"`
	Refusals int    `json:"refusals"`
}

const slowest = 10

// Count reads a journal and returns its figures. The attempts of a run that was resumed count
// as one run, which ended as the last of them. Memory does not grow with the number of runs
// that have ended, but for those that can be resumed. A line that can't be read is counted;
// any other error is returned.
func Count(entries iter.Seq2[line.Line, error]) (Stats, error) {
	c := counter{
		open: make(map[string]*openRun), kept: make(map[string]*openRun), status: make(map[string]int),
		agents: make(map[string]*AgentStats), tools: make(map[string]*ToolStats), guards: make(map[GuardStats]int),
	}
	for e, err := range entries {
		var bad *LineError
		switch {
		case errors.As(err, &bad):
			c.s.Unreadable++
		case err != nil:
			return Stats{}, err
		default:
			c.add(e)
		}
	}
	return c.done(), nil
}

type counter struct {
	s      Stats
	open   map[string]*openRun // by run
	kept   map[string]*openRun // by what they are attempts of
	status map[string]int
	agents map[string]*AgentStats
	tools  map[string]*ToolStats
	guards map[GuardStats]int
}

func (c *counter) agent(name string) *AgentStats {
	a := c.agents[name]
	if a == nil {
		a = &AgentStats{Agent: name, turns: make(map[int]int)}
		c.agents[name] = a
	}
	return a
}

func (c *counter) tool(name string) *ToolStats {
	t := c.tools[name]
	if t == nil {
		t = &ToolStats{Tool: name}
		c.tools[name] = t
	}
	return t
}

// openRun is a run whose end is not known yet.
type openRun struct {
	attemptOf string
	status    string
	calls     map[string]int // of its model, by agent
	// spent are the agents whose spend lines were read, charged what steps of the others say.
	spent   map[string]bool
	charged map[[2]string]line.Amount // by agent and model or tool
}

func (c *counter) run(id string) *openRun {
	r := c.open[id]
	if r == nil {
		r = &openRun{calls: make(map[string]int), spent: make(map[string]bool), charged: make(map[[2]string]line.Amount)}
		c.open[id] = r
	}
	return r
}

// step notes that the agent made a step, with calls of its model, in the run.
func (c *counter) step(e line.Line, calls int) {
	r := c.run(e.Run)
	r.calls[e.Agent] += calls
	if e.Charged > 0 {
		r.charged[[2]string{e.Agent, cmp.Or(e.Tool, e.Model)}] += e.Charged
	}
}

func (c *counter) add(e line.Line) {
	switch e.Kind {
	case line.KindRun:
		c.begin(e)
	case line.KindModel:
		c.step(e, e.Attempts)
		a := c.agent(e.Agent)
		a.Calls += e.Attempts
		a.In, a.Out, a.Thinking, a.Cached = a.In+e.In, a.Out+e.Out, a.Thinking+e.Thinking, a.Cached+e.Cached
		if e.Landed {
			a.Landings++
		}
		c.slow(e)
	case line.KindTool:
		c.step(e, 0)
		t := c.tool(e.Tool)
		t.Calls++
		if e.Error {
			t.Errors++
		}
		t.ms, t.MaxMS = t.ms+e.MS, max(t.MaxMS, e.MS)
		c.slow(e)
	case line.KindRefusal:
		c.step(e, 0)
		c.agent(e.Agent).Refusals++
		if e.Tool != "" {
			c.tool(e.Tool).Refusals++
		}
		c.guards[GuardStats{Guard: e.Guard, Code: e.Code}]++
	case line.KindSpend:
		c.run(e.Run).spent[e.Agent] = true
		c.spend(e)
	case line.KindEnd:
		c.end(e.Run, e.Status)
	case line.KindLost:
		c.s.Lost += e.Lines
	}
}

func (c *counter) spend(e line.Line) {
	c.s.Charged += ledger.Nano(e.Charged)
	c.s.Reserved += ledger.Nano(e.Reserved)
	c.agent(e.Agent).Charged += ledger.Nano(e.Charged)
	if t := c.tools[e.What]; t != nil {
		t.Charged += ledger.Nano(e.Charged)
	}
}

func (c *counter) slow(e line.Line) {
	i, _ := slices.BinarySearchFunc(c.s.Slowest, e, func(a, b line.Line) int { return cmp.Compare(b.MS, a.MS) })
	if i < slowest {
		e.Args = nil
		c.s.Slowest = slices.Insert(c.s.Slowest, i, e)
		c.s.Slowest = c.s.Slowest[:min(slowest, len(c.s.Slowest))]
	}
}

// begin opens a run. An earlier attempt of the same that is open yet was killed.
func (c *counter) begin(e line.Line) {
	if e.AttemptOf != "" {
		for id, r := range c.open {
			if r.attemptOf == e.AttemptOf && id != e.Run {
				c.end(id, StatusUnfinished)
			}
		}
	}
	c.run(e.Run).attemptOf = e.AttemptOf
}

// end closes a run. What it was charged stands in its spend lines; one that was killed before
// them has only what its steps say.
func (c *counter) end(run, status string) {
	r := c.run(run)
	delete(c.open, run)
	for of, charged := range r.charged {
		if !r.spent[of[0]] {
			c.spend(line.Line{Agent: of[0], What: of[1], Charged: charged, Reserved: charged})
		}
	}
	r.status = status
	if r.attemptOf == "" {
		c.close(r)
		return
	}
	if before := c.kept[r.attemptOf]; before != nil {
		for name, calls := range before.calls {
			r.calls[name] += calls
		}
	}
	c.kept[r.attemptOf] = &openRun{status: status, calls: r.calls}
}

// close counts a run that nothing more belongs to.
func (c *counter) close(r *openRun) {
	c.status[r.status]++
	for name, calls := range r.calls {
		a := c.agent(name)
		a.Runs++
		a.turns[calls]++
	}
}

func (c *counter) done() Stats {
	for run := range c.open {
		c.end(run, StatusUnfinished)
	}
	for _, r := range c.kept {
		c.close(r)
	}
	s := c.s
	s.Turns = make(map[int]int)
	s.Runs.ByStatus = c.status
	for status, n := range c.status {
		s.Runs.Total += n
		if status != "done" && status != "landed" {
			s.Runs.OtherThanDone += float64(n)
		}
	}
	s.Runs.OtherThanDone = ratio(s.Runs.OtherThanDone, s.Runs.Total)
	for _, name := range slices.Sorted(maps.Keys(c.agents)) {
		a := c.agents[name]
		a.CacheShare, a.LandingRate = ratio(float64(a.Cached), int(a.In)), ratio(float64(a.Landings), a.Runs)
		a.P50, a.P95 = quantile(a.turns, 50), quantile(a.turns, 95)
		if a.P95 > 0 {
			a.Suggested = a.P95 + 1
		}
		for calls, n := range a.turns {
			s.Turns[calls] += n
		}
		s.Agents = append(s.Agents, *a)
	}
	for _, name := range slices.Sorted(maps.Keys(c.tools)) {
		t := c.tools[name]
		if t.Calls > 0 {
			t.MeanMS = t.ms / int64(t.Calls)
		}
		s.Tools = append(s.Tools, *t)
	}
	for g, n := range c.guards {
		g.Refusals = n
		s.Guards = append(s.Guards, g)
	}
	slices.SortFunc(s.Guards, func(a, b GuardStats) int {
		return cmp.Or(cmp.Compare(b.Refusals, a.Refusals), cmp.Compare(a.Guard, b.Guard), cmp.Compare(a.Code, b.Code))
	})
	return s
}

func ratio(part float64, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return part / float64(whole)
}

// quantile returns the smallest value that at least percent of 100 are not above.
func quantile(histogram map[int]int, percent int) int {
	total := 0
	for _, n := range histogram {
		total += n
	}
	seen := 0
	for _, v := range slices.Sorted(maps.Keys(histogram)) {
		if seen += histogram[v]; seen*100 >= total*percent {
			return v
		}
	}
	return 0
}

package record

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/internal/shell"
	"github.com/preemptcheck/preemptcheck/internal/store/address"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/probe"
)

// Verdict is what a campaign comes to. Of several that apply, it is the first.
type Verdict string

// The verdicts.
const (
	// Found: at least one finding is not in the ledger.
	Found Verdict = "FOUND"
	// Broken: a lie of the canary was not found out, or not as one finding, so
	// that nothing was found means nothing.
	Broken Verdict = "BROKEN"
	// Inconclusive: some decisions of the scheduler were exercised too rarely.
	Inconclusive Verdict = "INCONCLUSIVE"
	// Passed is none of these.
	Passed Verdict = "PASSED"
)

// Report is what there is to tell about a campaign.
type Report struct {
	Verdict Verdict `json:"verdict"`
	// Broken and Inconclusive say why the campaign is, whatever its Verdict.
	Broken       []string `json:"broken,omitempty"`
	Inconclusive []string `json:"inconclusive,omitempty"`

	Config Config `json:"config"`
	Parts  []Part `json:"parts,omitempty"`
	// Findings that are not in the ledger, in the order in which they were found.
	Findings []ReportedFinding `json:"findings"`
	// CountedOnly is how many suspects count for one of the findings, by their
	// looks, without having been minimised.
	CountedOnly int `json:"countedOnly"`

	// Clusters were checked, with about Shapes different shapes (see
	// probe.Shapes). Errors counts those that could not be checked besides.
	Clusters int `json:"clusters"`
	Shapes   int `json:"shapes"`
	Errors   int `json:"errors"`
	// Timelines were run besides, KnownInTimelines is how often findings of the ledger
	// occurred in them.
	Timelines        int     `json:"timelines,omitempty"`
	KnownInTimelines []Count `json:"knownInTimelines,omitempty"`
	// Reached is how often each situation came about in them.
	Reached []Reached `json:"reached,omitempty"`
	// Outcomes divide the clusters. Rejected are those that could not be judged,
	// by reason, the most frequent first.
	Outcomes []Count `json:"outcomes"`
	Rejected []Count `json:"rejected"`
	// Partly are, by what of them is not modelled, those that were asked all else.
	Partly []Count `json:"partly"`
	// Exercised is how often each decision was, Known how often each finding of
	// the ledger occurred.
	Exercised []Exercised `json:"exercised"`
	Known     []Count     `json:"known"`
	// Filters says how filter plugins that were asked one by one judged pods on
	// nodes, in the profile's order.
	Filters []Filtered `json:"filters,omitempty"`
	// Plugins is probe.Stats.Plugins. Counterexamples say, by plugin, in which file is a cluster in which it is not monotone, or which
	// cluster it is.
	Plugins         map[string]map[string]int `json:"plugins,omitempty"`
	Counterexamples map[string]string         `json:"counterexamples,omitempty"`

	Canary CanaryReport `json:"canary"`
	Effort Effort       `json:"effort"`
}

// Count is how many clusters something is true of.
type Count struct {
	Name     string `json:"name"`
	Clusters int    `json:"clusters"`
}

// Exercised is a probe, and how often it was exercised.
type Exercised struct {
	Name     string `json:"name"`
	What     string `json:"what"`
	Clusters int    `json:"clusters"`
	Quota    int    `json:"quota"`
}

// Filtered is a filter plugin, and what it said.
type Filtered struct {
	Plugin string `json:"plugin"`
	properties.FilterCount
}

// Short tells whether the probe was exercised less often than its quota asks.
func (e *Exercised) Short() bool { return e.Clusters < e.Quota }

// Short counts the probes that were exercised too rarely, those of timelines among them.
func (r *Report) Short() int {
	short := len(r.neverReached())
	for i := range r.Exercised {
		if r.Exercised[i].Short() {
			short++
		}
	}
	return short
}

// ReportedFinding is a Finding with what to do about it.
type ReportedFinding struct {
	// Identity is fingerprint.Identity in words; the parts of it are Property and
	// those that follow.
	Identity    string `json:"identity"`
	Property    string `json:"property"`
	Stage       string `json:"stage,omitempty"`
	Kind        string `json:"kind,omitempty"`
	Shape       string `json:"shape,omitempty"`
	Explanation string `json:"explanation"`
	Detail      string `json:"detail"`
	// Stack holds the functions on the way to it, if it is a crash.
	Stack []string `json:"stack,omitempty"`
	// Timeline: it was found in timelines.
	Timeline bool `json:"timeline,omitempty"`
	// Count, FoundAfter and Clusters are those of Finding.
	Count      int       `json:"count"`
	FoundAfter float64   `json:"foundAfterSeconds"`
	Clusters   int       `json:"clusters"`
	Minimised  Minimised `json:"minimised"`
	// File is the path of the saved case; "" while it is still to be saved.
	File string `json:"file,omitempty"`
	// Reproduce and Minimise are command lines.
	Reproduce string `json:"reproduce,omitempty"`
	Minimise  string `json:"minimise,omitempty"`
	// ToContact says that it goes to the Kubernetes security contact before it is
	// published, KeptBack that there is nothing else to tell: see Report.Public.
	ToContact bool `json:"toSecurityContact,omitempty"`
	KeptBack  bool `json:"keptBack,omitempty"`
}

// CanaryReport is Canary in numbers.
type CanaryReport struct {
	Lies     int `json:"sung"`
	Caught   int `json:"caught"`
	Findings int `json:"findings"`
	// Lives are the lies about timelines.
	Lives Lies `json:"lives,omitzero"`
}

// Effort is what a campaign took.
type Effort struct {
	Started    time.Time `json:"started"`
	Sessions   int       `json:"sessions"`
	Deaths     int       `json:"deaths"` // of worker processes
	Seconds    float64   `json:"seconds"`
	CPUSeconds float64   `json:"cpuSeconds,omitempty"`
	// Clusters per second and per CPU second: overall, and in the first and the
	// last of several samples. 0 is not known; so it is with the bytes of memory.
	PerSecond    float64 `json:"perSecond,omitempty"`
	PerCPUSecond float64 `json:"perCPUSecond,omitempty"`
	AtStart      float64 `json:"perSecondAtStart,omitempty"`
	AtEnd        float64 `json:"perSecondAtEnd,omitempty"`
	CPUAtStart   float64 `json:"perCPUSecondAtStart,omitempty"`
	CPUAtEnd     float64 `json:"perCPUSecondAtEnd,omitempty"`
	MemoryStart  int64   `json:"memoryAtStart,omitempty"`
	MemoryEnd    int64   `json:"memoryAtEnd,omitempty"`
}

// Report sums the campaign up, whose directory is dir.
func (s *State) Report(dir string) *Report {
	stats := &s.Stats
	r := &Report{
		Config: s.Config, Parts: s.Parts, Findings: []ReportedFinding{},
		Clusters: stats.Clusters, Shapes: stats.Shapes.Count(), Errors: s.Errors,
		Outcomes: []Count{
			{"preempts", stats.Preempted},
			{"no help", stats.NotHelpful},
			{"not eligible", stats.Ineligible},
			{"fits without preemption", stats.Scheduled},
			{"error", stats.InError},
			{"panic, hang or exit", stats.Broken},
			{"not modelled", stats.Unmodelled},
		},
		Timelines: stats.Timelines, KnownInTimelines: someCounts(stats.KnownInTimelines),
		Rejected: counts(stats.Rejected), Partly: counts(stats.Partly), Known: counts(stats.Known),
		Canary: CanaryReport{s.Canary.Lies, s.Canary.Caught, len(s.Canary.Findings), s.Canary.Lives},
		Effort: s.effort(),
	}
	for _, f := range s.Findings {
		r.Findings = append(r.Findings, s.reported(f, dir))
	}
	for _, k := range s.Kinds {
		r.CountedOnly += k.Count - k.Minimised
	}
	known, pinned := s.Config.FeatureGates.Map()[model.GateWorkload]
	probes := probe.Probes()
	if s.Config.Modelled != "" {
		probes = probe.OfPlugin(s.Config.Modelled)
	}
	for _, p := range probes {
		if pinned && !known && p.OfGroups() {
			continue // no cluster has groups
		}
		quota := p.Quota
		if s.Config.Configuration != "" && stats.Exercised[p.Name] == 0 {
			quota = 0 // the configuration may leave no way to it
		}
		r.Exercised = append(r.Exercised, Exercised{p.Name, p.What, stats.Exercised[p.Name], quota})
	}
	r.Reached = reached(stats, s.Config.groupsInTimelines())
	for _, plugin := range answers.FilterPlugins() {
		if count, asked := stats.Filters[plugin]; asked {
			r.Filters = append(r.Filters, Filtered{plugin, count})
		}
	}
	r.Plugins = stats.Plugins
	for plugin, e := range stats.Counterexamples {
		if r.Counterexamples == nil {
			r.Counterexamples = map[string]string{}
		}
		r.Counterexamples[plugin] = cmp.Or(s.Examples[plugin], fmt.Sprintf("%s generate%s --seed %d --first %d", cmp.Or(s.Config.Command, "preemptcheck"), s.Config.FeatureGates.Flag(), s.Config.Seed, e.Number))
	}
	r.judge()
	return r
}

// maxNamed is how many probes a reason names. All that are short are among
// Report.Exercised.
const maxNamed = 8

// judge fills in the verdict and its reasons.
func (r *Report) judge() {
	c := r.Canary
	if c.Caught < c.Lies {
		r.Broken = append(r.Broken, fmt.Sprintf("of %d lies of the canary, only %d were noticed", c.Lies, c.Caught))
	}
	if c.Caught > 0 && c.Findings != 1 {
		r.Broken = append(r.Broken, fmt.Sprintf("the lies of the canary, which are all alike, were minimised to %d findings instead of 1", c.Findings))
	}
	if c.Lives.Caught < c.Lives.Lies {
		r.Broken = append(r.Broken, fmt.Sprintf("of %d lies of the canary about timelines, only %d were noticed", c.Lives.Lies, c.Lives.Caught))
	}
	if c.Lives.Lies == 0 && r.Timelines >= CanaryEvery*BlockSize {
		r.Broken = append(r.Broken, fmt.Sprintf("the canary never lied about any of %d timelines", r.Timelines))
	}
	if preempting := r.Outcomes[0].Clusters; c.Lies == 0 && preempting > 0 {
		if r.Config.Configuration != "" {
			r.Inconclusive = append(r.Inconclusive, "the canary has not lied: it takes a preemption that is modelled, and with this configuration there may be none")
		} else if r.Clusters >= CanaryEvery*BlockSize {
			r.Broken = append(r.Broken, fmt.Sprintf("the canary never lied, although %d clusters preempt", preempting))
		} else {
			r.Inconclusive = append(r.Inconclusive, "the canary has not lied yet")
		}
	}
	if r.Config.PluginsAlone { // of the cycle, nothing else was asked
		r.Inconclusive, r.Exercised, r.Reached = nil, nil, nil
	}
	if r.Config.Outside { // what was exercised is told by the model
		r.Reached = nil
		if r.Config.Modelled == "" {
			r.Exercised = nil
		}
		if r.Outcomes[0].Clusters == 0 {
			r.Inconclusive = append(r.Inconclusive, "nothing was preempted")
		}
	}
	var short []string
	for i := range r.Exercised {
		if e := &r.Exercised[i]; e.Short() {
			short = append(short, fmt.Sprintf("%s (%d of %d)", e.Name, e.Clusters, e.Quota))
		}
	}
	if few := len(short); few > 0 {
		if few > maxNamed {
			short = append(short[:maxNamed], fmt.Sprintf("and %d more", few-maxNamed))
		}
		r.Inconclusive = append(r.Inconclusive,
			fmt.Sprintf("%d of %d decisions were exercised too rarely: %s", few, len(r.Exercised), strings.Join(short, ", ")))
	}
	if short := r.neverReached(); len(short) > 0 {
		r.Inconclusive = append(r.Inconclusive,
			fmt.Sprintf("%d of %d situations came about too rarely in timelines: %s", len(short), len(r.Reached), words.Some(short, maxNamed)))
	}
	switch {
	case len(r.Findings) > 0:
		r.Verdict = Found
	case len(r.Broken) > 0:
		r.Verdict = Broken
	case len(r.Inconclusive) > 0:
		r.Verdict = Inconclusive
	default:
		r.Verdict = Passed
	}
}

// Headline says in one line what the campaign came to.
func (r *Report) Headline() string {
	checked := words.Plural(r.Clusters, "cluster")
	if r.Config.PluginsAlone && (r.Verdict == Found || r.Verdict == Passed) {
		return r.headlineOfPlugins()
	}
	switch r.Verdict {
	case Found:
		if n := len(r.Findings); n > 1 {
			return fmt.Sprintf("FOUND %d new findings in %s", n, checked)
		}
		return "FOUND 1 new finding in " + checked
	case Broken:
		return "BROKEN: this campaign would not have noticed a bug, so its " + checked + " say nothing"
	case Inconclusive:
		return "INCONCLUSIVE: " + checked + " exercised too little to say that there is nothing to find"
	default:
		return "PASSED: nothing new in " + checked
	}
}

// History tells in one sentence how a finding came about.
func (f *ReportedFinding) History() string {
	m := &f.Minimised
	seen := "on " + words.Plural(f.Count, "cluster")
	if f.Timeline {
		seen = "in " + words.Plural(f.Count, "timeline")
	}
	text := fmt.Sprintf("Seen %s, first after %s and %s; ", seen, since(f.FoundAfter), words.Plural(f.Clusters, "cluster"))
	if text += m.Way(); m.To == m.From && !m.Minimal {
		return text + "."
	}
	return text + fmt.Sprintf(" from %s to %s with %d checks in %s.", m.From, m.To, m.Checks, since(m.Seconds))
}

// lines are the history, the commands to go on with, and the stack of a crash.
func (f *ReportedFinding) lines() []string {
	if f.KeptBack {
		return nil
	}
	lines := []string{f.History(), "Reproduce: " + f.Reproduce}
	if f.Minimise != "" {
		lines = append(lines, "Minimise: "+f.Minimise)
	}
	if len(f.Stack) > 0 {
		lines = append(append(lines, "Stack:"), f.Stack...)
	}
	return lines
}

// Tried tells in one paragraph what the campaign did.
func (r *Report) Tried() string {
	e := &r.Effort
	text := fmt.Sprintf("%s, of about %d different shapes, checked in %s", words.Plural(r.Clusters, "cluster"), r.Shapes, since(e.Seconds))
	if e.Sessions > 1 {
		text += fmt.Sprintf(" in %d sessions", e.Sessions)
	}
	if e.PerSecond > 0 {
		text += fmt.Sprintf(": %.0f per second", e.PerSecond)
	}
	if e.PerCPUSecond > 0 {
		text += fmt.Sprintf(", %.0f per CPU second", e.PerCPUSecond)
	}
	if e.AtStart > 0 {
		text += fmt.Sprintf("; %.0f per second at the start and %.0f at the end", e.AtStart, e.AtEnd)
		if e.CPUAtStart > 0 {
			text += fmt.Sprintf(" (%.0f and %.0f per CPU second)", e.CPUAtStart, e.CPUAtEnd)
		}
	}
	text += "."
	if e.MemoryStart > 0 {
		text += fmt.Sprintf(" Memory: %d MiB at the start, %d MiB at the end.", e.MemoryStart>>20, e.MemoryEnd>>20)
	}
	text += " The canary " + canaryLied(r.Canary.Lies, r.Canary.Caught) + "."
	if r.Timelines > 0 {
		text += fmt.Sprintf(" Besides, %s; about them it %s.",
			words.Plural(r.Timelines, "timeline"), canaryLied(r.Canary.Lives.Lies, r.Canary.Lives.Caught))
	}
	if r.Errors > 0 {
		text += fmt.Sprintf(" %d more could not be checked.", r.Errors)
	}
	if e.Deaths > 0 {
		text += fmt.Sprintf(" Worker processes died %s.", times(e.Deaths))
	}
	if r.CountedOnly > 0 {
		text += fmt.Sprintf(" %s.", likeOthers(r.CountedOnly))
	}
	return text
}

// canaryLied says how often the canary lied, and was caught.
func canaryLied(lies, caught int) string {
	if lies == 0 {
		return "has not lied yet"
	}
	return fmt.Sprintf("lied %s and was caught %s", times(lies), times(caught))
}

// likeOthers says how many suspects were only counted.
func likeOthers(n int) string {
	if n == 1 {
		return "1 more suspect looks like the findings and was only counted, not minimised"
	}
	return fmt.Sprintf("%d more suspects look like the findings and were only counted, not minimised", n)
}

func times(n int) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// reported says what to do about a finding.
func (s *State) reported(f *Finding, dir string) ReportedFinding {
	out := ReportedFinding{
		Identity: f.Identity.String(), Property: f.Identity.Property, Stage: string(f.Identity.Stage),
		Kind: f.Identity.Kind, Shape: f.Identity.Shape,
		Explanation: f.Explanation, Detail: f.Detail, Stack: f.Stack, ToContact: f.GoesToContact(), Timeline: f.Timeline,
		Count: f.Count, FoundAfter: f.FoundAfter, Clusters: f.Clusters, Minimised: f.Minimised,
	}
	from, file := "", "-"
	if f.File != "" {
		out.File = address.Join(dir, f.File)
		file = shell.Quote(out.File)
	} else {
		what := "generate" + s.Config.Drawn(s.Config.FeatureGates)
		if f.Timeline {
			what = "generate --timeline"
		}
		from = fmt.Sprintf("%s %s --seed %d --first %d | ", cmp.Or(s.Config.Command, "preemptcheck"), what, f.Seed, f.Number)
	}
	out.Reproduce = from + s.Config.Subcommand("check") + " " + file
	if f.Identity.Property != fingerprint.Unmet { // which holds of the case as it is
		out.Minimise = from + s.Config.Subcommand("minimize") + " " + file
	}
	return out
}

func (s *State) effort() Effort {
	e := Effort{Sessions: len(s.Sessions), Deaths: s.Deaths, Seconds: s.Seconds()}
	checked := 0
	for i, session := range s.Sessions {
		if i == 0 || session.Started.Before(e.Started) {
			e.Started = session.Started
		}
		checked += session.Clusters
		e.CPUSeconds += session.CPUSeconds
	}
	if e.Seconds > 0 {
		e.PerSecond = float64(checked) / e.Seconds
	}
	if e.CPUSeconds > 0 {
		e.PerCPUSecond = float64(checked) / e.CPUSeconds
	}
	if n := len(s.Samples); n > 1 {
		first, last := &s.Samples[0], &s.Samples[n-1]
		e.AtStart, e.AtEnd, e.MemoryStart, e.MemoryEnd = first.PerSecond, last.PerSecond, first.Memory, last.Memory
		e.CPUAtStart, e.CPUAtEnd = first.PerCPUSecond, last.PerCPUSecond
	}
	return e
}

// someCounts is counts, and nil if there are none.
func someCounts(of map[string]int) []Count {
	if len(of) == 0 {
		return nil
	}
	return counts(of)
}

// counts lists the most frequent first.
func counts(of map[string]int) []Count {
	all := []Count{}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		all = append(all, Count{name, of[name]})
	}
	slices.SortStableFunc(all, func(a, b Count) int { return cmp.Compare(b.Clusters, a.Clusters) })
	return all
}

package record

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/moby/sys/atomicwriter"

	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/aftermath"
	"github.com/preemptcheck/preemptcheck/properties/all"
	"github.com/preemptcheck/preemptcheck/properties/groups"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/reach"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/variation"
	"github.com/preemptcheck/preemptcheck/properties/relation"
)

// The elements of JUnit XML that all its readers know.
type (
	junitSuites struct {
		XMLName xml.Name   `xml:"testsuites"`
		Suite   junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name      string      `xml:"name,attr"`
		Tests     int         `xml:"tests,attr"`
		Failures  int         `xml:"failures,attr"`
		Errors    int         `xml:"errors,attr"`
		Time      string      `xml:"time,attr"` // seconds
		Timestamp string      `xml:"timestamp,attr,omitempty"`
		Cases     []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		File    string        `xml:"file,attr,omitempty"`
		Time    string        `xml:"time,attr"`
		Failure *junitProblem `xml:"failure"`
		Error   *junitProblem `xml:"error"`
	}
	junitProblem struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// The classes of the properties of clusters, and of those of timelines: some have the same
// name.
const (
	classProperties = "preemptcheck.properties"
	classTimelines  = "preemptcheck.timelines"
)

// WriteJUnit writes the report as JUnit XML, replacing the file as a whole. It
// holds one test case for each property that was checked, failed ones for each
// finding; one for the canary, in error if the campaign is broken; and one for each
// probe, in error if it was exercised too rarely: a viewer that knows nothing of
// verdicts must not show such a campaign as passed.
func (r *Report) WriteJUnit(file string) error {
	data, err := xml.MarshalIndent(junitSuites{Suite: r.junit()}, "", "  ")
	if err != nil {
		return err
	}
	return atomicwriter.WriteFile(file, append([]byte(xml.Header), append(data, '\n')...), 0o644)
}

func (r *Report) junit() junitSuite {
	s := junitSuite{Name: "preemptcheck fuzz", Time: seconds(r.Effort.Seconds)}
	if !r.Effort.Started.IsZero() {
		s.Timestamp = r.Effort.Started.UTC().Format("2006-01-02T15:04:05")
	}
	add := func(c junitCase) {
		s.Tests++
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		}
		s.Cases = append(s.Cases, c)
	}
	broken := map[string]map[string]bool{classProperties: {}, classTimelines: {}}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Timeline {
			broken[classTimelines][f.Property] = true
		} else {
			broken[classProperties][f.Property] = true
		}
		add(junitCase{
			Class: "preemptcheck.findings", Name: f.Identity, File: f.File, Time: seconds(f.Minimised.Seconds),
			Failure: &junitProblem{f.Explanation, f.Property, strings.Join(f.lines(), "\n")},
		})
	}
	hold := func(class string, names []string) {
		for _, name := range names {
			if !broken[class][name] {
				add(junitCase{Class: class, Name: name, Time: "0"})
			}
		}
	}
	hold(classProperties, checkedProperties(r.Config))
	if r.Timelines > 0 {
		hold(classTimelines, lifetimeProperties())
	}
	canary := junitCase{Class: "preemptcheck.campaign", Name: "a lie is found out", Time: "0"}
	switch {
	case len(r.Broken) > 0:
		canary.Error = &junitProblem{Message: strings.Join(r.Broken, "; "), Type: string(Broken)}
	case r.Canary.Lies == 0:
		canary.Error = &junitProblem{Message: "no lie was told", Type: string(Inconclusive)}
	}
	add(canary)
	for i := range r.Exercised {
		e := &r.Exercised[i]
		c := junitCase{Class: "preemptcheck.exercised", Name: e.Name, Time: "0"}
		if e.Short() {
			c.Error = &junitProblem{Message: fmt.Sprintf("exercised by %d clusters, of at least %d", e.Clusters, e.Quota), Type: string(Inconclusive)}
		}
		add(c)
	}
	for i := range r.Reached {
		p := &r.Reached[i]
		c := junitCase{Class: "preemptcheck.timelines.reached", Name: p.Name, Time: "0"}
		switch {
		case !p.Short():
		case r.Timelines < reach.Enough:
			continue // too few to say anything
		default:
			c.Error = &junitProblem{Message: fmt.Sprintf("came about in %d timelines, of at least %d", p.Timelines, p.Quota), Type: string(Inconclusive)}
		}
		add(c)
	}
	return s
}

// checkedProperties names what the campaign checks of each cluster, or of its
// share of them.
func checkedProperties(c Config) []string {
	names := []string{properties.Differential, fingerprint.Unmet}
	for _, p := range append(all.Cheap(), all.Repeating()...) {
		names = append(names, p.Name)
	}
	if c.Relations > 0 {
		for _, p := range slices.Concat(relation.All(), aftermath.Costly(), groups.Costly(), relation.Circumstances()) {
			names = append(names, p.Name)
		}
	}
	if c.Filters > 0 {
		names = append(names, properties.FiltersAlone().Name)
	}
	return names
}

// lifetimeProperties names what a campaign checks of each timeline, or of its share of them.
func lifetimeProperties() (names []string) {
	for _, p := range lifetime.All() {
		names = append(names, p.Name)
	}
	for _, r := range variation.All() {
		names = append(names, r.Name)
	}
	return names
}

func seconds(s float64) string { return fmt.Sprintf("%.3f", s) }

// since is a duration for people.
func since(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

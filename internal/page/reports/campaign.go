package reports

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/page"
)

// campaignView is what the template "campaign" shows.
type campaignView struct {
	*record.Report
	Found             []found
	Probes, Situation []probed
	Short             int
	Ends, Occurred    []known
	Charts            []chart
}

// found is a finding with its smallest cluster.
type found struct {
	*record.ReportedFinding
	Drawn template.HTML
	Case  string
}

// probed is how often something came about, against its floor.
type probed struct {
	Name, What   string
	Count, Quota int
	Share, Floor string // lengths
	IsShort      bool
	Text         string
}

// chart is a quantity over the time of a campaign.
type chart struct {
	Name, Text    string
	Line, Area    string // points
	Top, End      string
	Width, Height int
}

// Campaign writes the page of a campaign. The cases of its findings are taken from the state; of one
// that is kept back in the report nothing is told.
func Campaign(w io.Writer, r *record.Report, s *record.State) error {
	v := &campaignView{Report: r, Short: r.Short()}
	for i := range r.Findings {
		f := found{ReportedFinding: &r.Findings[i]}
		if !f.KeptBack && i < len(s.Findings) {
			f.Case = s.Findings[i].Case
			var err error
			if f.Drawn, err = drawText(f.Case); err != nil {
				return err
			}
		}
		v.Found = append(v.Found, f)
	}
	most := 1
	for _, e := range r.Exercised {
		most = max(most, e.Clusters, e.Quota)
	}
	for _, e := range r.Exercised {
		v.Probes = append(v.Probes, newProbed(e.Name, e.What, e.Clusters, e.Quota, most))
	}
	most = 1
	for _, e := range r.Reached {
		most = max(most, e.Timelines, e.Quota)
	}
	for _, e := range r.Reached {
		v.Situation = append(v.Situation, newProbed(e.Name, "", e.Timelines, e.Quota, most))
	}
	v.Ends, v.Occurred = bars(r.Outcomes), bars(r.Known)
	v.Charts = charts(s.Samples)
	mood := map[record.Verdict]page.Mood{record.Found: page.Bad, record.Broken: page.Bad, record.Passed: page.Good}[r.Verdict]
	if mood == "" {
		mood = page.Unclear
	}
	d := &page.Document{
		Title: r.Headline(), Kind: "Campaign", Data: r, Verdict: &page.Verdict{Mood: mood, Text: r.Tried(), Lines: append(append([]string{}, r.Broken...), r.Inconclusive...)},
		Facts: []page.Fact{{Name: "Scheduler", Value: r.Config.Reference}, {Name: "Seed", Value: fmt.Sprint(r.Config.Seed)}, {Name: "Begun", Value: r.Effort.Started.UTC().Format("2006-01-02 15:04 MST")}},
	}
	d, err := render(d, "campaign", v)
	if err != nil {
		return err
	}
	return d.Write(w)
}

// bars measure counts.
func bars(counts []record.Count) (all []known) {
	most := 0
	for _, c := range counts {
		most = max(most, c.Clusters)
	}
	for _, c := range counts {
		all = append(all, known{c.Name, c.Clusters, share(float64(c.Clusters), float64(most))})
	}
	return all
}

// newProbed measures a count and its floor on a scale on which ten times as much is one step more.
func newProbed(name, what string, count, quota, most int) probed {
	scale := math.Log1p(float64(most))
	p := probed{
		Name: name, What: what, Count: count, Quota: quota, IsShort: count < quota,
		Share: share(math.Log1p(float64(count)), scale), Floor: share(math.Log1p(float64(quota)), scale),
	}
	p.Text = fmt.Sprintf("%s: %d, floor %d", name, count, quota)
	return p
}

// charts draw speed and memory over a campaign.
func charts(samples []record.Sample) (all []chart) {
	if len(samples) < 2 {
		return nil
	}
	for _, c := range []struct {
		name, unit string
		of         func(record.Sample) float64
	}{
		{"Clusters per second", "per second", func(s record.Sample) float64 { return s.PerSecond }},
		{"Clusters per CPU second", "per CPU second", func(s record.Sample) float64 { return s.PerCPUSecond }},
		{"Memory", "MiB", func(s record.Sample) float64 { return float64(s.Memory) / (1 << 20) }},
	} {
		if drawn, ok := newChart(c.name, c.unit, samples, c.of); ok {
			all = append(all, drawn)
		}
	}
	return all
}

func newChart(name, unit string, samples []record.Sample, of func(record.Sample) float64) (chart, bool) {
	const width, height = 600, 140
	end, top := samples[len(samples)-1].Seconds, 0.0
	for _, s := range samples {
		top = max(top, of(s))
	}
	if top <= 0 || end <= 0 {
		return chart{}, false
	}
	var line strings.Builder
	for _, s := range samples {
		fmt.Fprintf(&line, "%.1f,%.1f ", s.Seconds/end*width, height-of(s)/top*(height-12))
	}
	first, last := of(samples[0]), of(samples[len(samples)-1])
	return chart{
		Name: name, Line: line.String(), Width: width, Height: height,
		Area: fmt.Sprintf("%.1f,%d %s%d,%d", samples[0].Seconds/end*width, height, line.String(), width, height),
		Top:  fmt.Sprintf("%.0f %s", top, unit), End: fmt.Sprintf("%.0f s", end),
		Text: fmt.Sprintf("%s over %.0f seconds: %.0f at the start, %.0f at the end, %.0f at most", name, end, first, last, top),
	}, true
}

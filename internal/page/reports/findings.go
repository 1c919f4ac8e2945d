package reports

import (
	"fmt"
	"html/template"
	"io"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/page"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
)

// findingsView is what the template "findings" shows.
type findingsView struct {
	Classes []class
	Cards   []card
}

// card is a finding with its smallest cluster.
type card struct {
	ledger.Entry
	Kind  string // single cluster or timeline
	Steps int
	Drawn template.HTML
}

// Findings writes the page of known findings. Those that are kept back have to be Public.
func Findings(w io.Writer, entries []ledger.Entry) error {
	v := &findingsView{}
	counts := map[ledger.Class]int{}
	for _, e := range entries {
		counts[e.Class]++
		c := card{Entry: e, Kind: "cluster"}
		if e.Witness != "" {
			witness, err := corpus.Witness(e.Witness)
			if err != nil {
				return err
			}
			if witness.Timeline != nil {
				c.Kind, c.Steps = "timeline", len(witness.Timeline.Steps)
			}
			if c.Drawn, err = drawCase(witness); err != nil {
				return err
			}
		}
		v.Cards = append(v.Cards, c)
	}
	for _, name := range ledger.Classes() {
		if n := counts[name]; n > 0 {
			v.Classes = append(v.Classes, class{string(name), n})
		}
	}
	title := words.Plural(len(entries), "known finding")
	if len(entries) == 1 {
		title = entries[0].Title
	}
	d, err := render(&page.Document{Title: title, Kind: "Known findings", Data: entries, Facts: []page.Fact{{Name: "Disagree with the documentation", Value: fmt.Sprint(disagreeing(entries))}}}, "findings", v)
	if err != nil {
		return err
	}
	return d.Write(w)
}

func disagreeing(entries []ledger.Entry) (n int) {
	for _, e := range entries {
		if e.Class.Disagrees() {
			n++
		}
	}
	return n
}

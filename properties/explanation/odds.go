package explanation

import (
	"fmt"
	"io"
	"math/big"
	"slices"

	"github.com/preemptcheck/preemptcheck/model/answers"
)

// Odds say how likely the picks are where chance decides which candidates are
// compared: see answers.Set.Odds.
type Odds struct {
	// Unknown says why they are not known. The other fields are then empty.
	Unknown string `json:"unknown,omitempty"`
	// Likeliest are the most likely picks, at most 10; Rest is all others together.
	Likeliest []Likelihood `json:"likeliest,omitempty"`
	Rest      *Likelihood  `json:"rest,omitempty"`
	// Total is the sum of all.
	Total *Likelihood `json:"total,omitempty"`

	byNode map[string]*answers.Likelihood
	sum    *big.Rat // of all
}

// Likelihood is that of a pick, or of several together.
type Likelihood struct {
	// Nodes are equally good: nobody promises which of them is taken. They are left out
	// where picks are summed up.
	Nodes []string `json:"nodes,omitempty"`
	// Count is how many nodes that are.
	Count int `json:"count"`
	// Numerator and Denominator are the exact probability, in lowest terms.
	Numerator   string  `json:"numerator"`
	Denominator string  `json:"denominator"`
	Percent     float64 `json:"percent"`
}

// shownOdds is how many of the most likely picks are told one by one.
const shownOdds = 10

// oddsOf are those of a decision.
func oddsOf(d *answers.Set) *Odds {
	all, why := d.Odds()
	if len(all) == 0 {
		return &Odds{Unknown: why}
	}
	o := &Odds{byNode: map[string]*answers.Likelihood{}, sum: new(big.Rat)}
	rest, others := new(big.Rat), 0
	for i, l := range all {
		for _, node := range l.Nodes {
			o.byNode[node] = &all[i]
		}
		if i < shownOdds {
			o.sum.Add(o.sum, l.Probability)
			o.Likeliest = append(o.Likeliest, likelihood(l.Nodes, len(l.Nodes), l.Probability))
			continue
		}
		others += len(l.Nodes)
		rest.Add(rest, l.Probability)
	}
	if o.sum.Add(o.sum, rest); others > 0 {
		all := likelihood(nil, others, rest)
		o.Rest = &all
	}
	total := likelihood(nil, len(o.byNode), o.sum)
	o.Total = &total
	return o
}

func likelihood(nodes []string, count int, p *big.Rat) Likelihood {
	percent, _ := new(big.Rat).Mul(p, big.NewRat(100, 1)).Float64()
	return Likelihood{nodes, count, p.Num().String(), p.Denom().String(), percent}
}

// compare puts the more likely node first.
func (o *Odds) compare(a, b string) int {
	if o == nil || o.byNode[a] == nil || o.byNode[b] == nil {
		return 0
	}
	return o.byNode[b].Probability.Cmp(o.byNode[a].Probability)
}

// on is the cell of a table for a node, if there are cells.
func (o *Odds) on(node string) []string {
	if o == nil || o.byNode[node] == nil {
		return nil
	}
	l := o.byNode[node]
	if len(l.Nodes) > 1 {
		return []string{fmt.Sprintf("%s for any of %d", percent(l.Probability), len(l.Nodes))}
	}
	return []string{percent(l.Probability)}
}

// besides says how likely all picks are together but those shown.
func (o *Odds) besides(shown []Choice) string {
	if o == nil || o.Unknown != "" {
		return ""
	}
	rest := new(big.Rat).Set(o.sum)
	var counted []*answers.Likelihood
	for _, c := range shown {
		if l := o.byNode[c.Node]; l != nil && !slices.Contains(counted, l) {
			counted = append(counted, l)
			rest.Sub(rest, l.Probability)
		}
	}
	return ", " + percent(rest) + " together"
}

func (o *Odds) writeText(w io.Writer) {
	switch {
	case o == nil:
	case o.Unknown != "":
		fmt.Fprintf(w, "  How likely they are is not known: %s.\n", o.Unknown)
	default:
		fmt.Fprintf(w, "  Together %s: each start, and each order of the other nodes, counts as equally likely.\n", percent(o.sum))
		for _, l := range o.byNode {
			if len(l.Nodes) > 1 {
				fmt.Fprint(w, "  Which of equally good nodes is taken, nobody promises.\n")
				break
			}
		}
	}
}

// percent is a probability for people.
func percent(p *big.Rat) string {
	hundredths, _ := new(big.Rat).Mul(p, big.NewRat(100, 1)).Float64()
	switch {
	case p.Sign() == 0:
		return "0 %"
	case hundredths < 0.01:
		return "less than 0.01 %"
	case hundredths < 1:
		return fmt.Sprintf("%.2f %%", hundredths)
	}
	return fmt.Sprintf("%.1f %%", hundredths)
}

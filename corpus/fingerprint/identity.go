package fingerprint

import (
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/properties"
)

// Identity tells the causes of findings apart: findings of one cause, minimised,
// have the same one.
type Identity struct {
	Fingerprint
	// Shape names what is in play in the minimised cluster, joined by commas.
	Shape string `json:"shape,omitempty"`
}

// Identify is the identity of a finding on its minimised cluster.
func Identify(f *properties.Finding, minimised *model.Cluster) Identity {
	shape := slices.DeleteFunc(Shape(minimised), func(name string) bool { return !matters(f.Kind, name) })
	return Identity{OfFinding(f), strings.Join(shape, ", ")}
}

// matters tells whether an aspect says anything about the cause of a finding of
// some kind. If the scheduler is right about what fits, it says nothing by what a
// node is full; if it is wrong about that, it says nothing which pod is the more
// important; and if it is wrong about a criterion, that says it all.
func matters(kind, aspect string) bool {
	kind, _, _ = strings.Cut(kind, ": ")
	switch kind {
	case answers.KindWorse:
		return aspect == missingStartTimes
	case answers.KindChoice:
		return !slices.Contains(fit, aspect) && !aboutVolumes(aspect)
	case answers.KindFits, answers.KindDoesNotFit, answers.KindNeedless:
		return aspect != startTimes && aspect != missingStartTimes
	}
	return true
}

func (i Identity) String() string {
	text := i.Fingerprint.String()
	if i.Shape != "" {
		text += ", with " + and(i.Shape)
	}
	return text
}

// and makes a list of names one of words.
func and(list string) string {
	if last := strings.LastIndex(list, ", "); last >= 0 {
		return list[:last] + " and " + list[last+len(", "):]
	}
	return list
}

// Name is a name for the file of the finding that a person can guess from: of
// lower-case letters, digits and dashes, at most 100 of them.
func (i Identity) Name() string {
	property := i.Property
	if property == properties.Differential {
		property = ""
	}
	text := strings.Join([]string{property, string(i.Stage), i.Kind}, " ")
	if i.Shape != "" {
		text += " with " + and(i.Shape)
	}
	return words.Slug(text)
}

// Case is the case of a finding with that identity. explanation says it in a
// sentence, origin where the cluster is from, and found is the command line that found
// it.
func (i Identity) Case(explanation, origin, found string, minimised *model.Cluster) *corpus.Case {
	return &corpus.Case{
		Name:        i.Name(),
		Description: explanation,
		Origin:      origin,
		Finding:     &corpus.Finding{Property: i.Property, Stage: string(i.Stage), Kind: i.Kind, Shape: i.Shape, Found: found},
		Cluster:     minimised,
	}
}

// Presort is a key under which findings of probably one cause fall together that
// are not minimised yet, so that few of them need to be. r is the result that
// holds the finding; nil if the check failed. It takes a few milliseconds.
//
// Findings of one cause may have many keys, and now and then two causes share
// one: Identify decides.
func Presort(r *properties.Result, f *properties.Finding) string {
	key := []string{OfFinding(f).String()}
	if r == nil || f.Property != properties.Differential {
		return key[0]
	}
	if asIf := AsIf(r); len(asIf) > 0 {
		return strings.Join(append(key, asIf...), "; ")
	}
	// No rule by itself explains it: look for what is in play where it shows.
	return strings.Join(append(key, Shape(around(r.Cluster, f.Node))...), "; ")
}

// around is what there is of a cluster on one node, "" for all of it.
func around(c *model.Cluster, node string) *model.Cluster {
	if node == "" {
		return c
	}
	near := *c
	near.Nodes, near.Pods = nil, c.Members()
	for _, n := range c.Nodes {
		if n.Name == node {
			near.Nodes = append(near.Nodes, n)
		}
	}
	for _, p := range c.Pods {
		if (p.Spec.NodeName == node || p.Status.NominatedNodeName == node) && !slices.Contains(near.Pods, p) {
			near.Pods = append(near.Pods, p)
		}
	}
	return &near
}

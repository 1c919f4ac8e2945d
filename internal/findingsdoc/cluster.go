package findingsdoc

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
)

// Summary is a cluster in short, a line for each object.
func Summary(c *model.Cluster) string {
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	line := func(kind, name string, details ...string) {
		fmt.Fprintf(w, "%s\t%s\t%s\n", kind, name, strings.Join(slices.DeleteFunc(details, func(s string) bool { return s == "" }), "; "))
	}
	for _, n := range c.Nodes {
		line("node", n.Name, words.Resources(n.Status.Allocatable), when(n.Spec.Unschedulable, "unschedulable"), taints(n.Spec.Taints),
			when(len(n.Status.DeclaredFeatures) > 0, "declares "+strings.Join(n.Status.DeclaredFeatures, " ")), labels(n.Labels))
	}
	for _, b := range c.PodDisruptionBudgets {
		selector := metav1.FormatLabelSelector(b.Spec.Selector)
		switch {
		case b.Spec.Selector == nil:
			selector = "no selector"
		case len(b.Spec.Selector.MatchLabels)+len(b.Spec.Selector.MatchExpressions) == 0:
			selector = "selector {}"
		}
		policy := ""
		if p := b.Spec.UnhealthyPodEvictionPolicy; p != nil {
			policy = "unhealthyPodEvictionPolicy " + string(*p)
		}
		line("budget", model.Key(b), selector, fmt.Sprintf("disruptionsAllowed %d", b.Status.DisruptionsAllowed), policy)
	}
	storageLines(c, line)
	for _, o := range c.Extra {
		if g, ok := o.(*schedulingv1beta1.PodGroup); ok {
			mode := when(g.Spec.DisruptionMode != nil && g.Spec.DisruptionMode.All != nil, "disrupted as a whole")
			line("pod group", model.Key(g), fmt.Sprintf("priority %d", ptr.Deref(g.Spec.Priority, 0)), cmp.Or(mode, "disrupted pod by pod"))
		}
	}
	differ := startsDiffer(c)
	for _, p := range c.Pods {
		line("pod", model.Key(p), append(podDetails(p), when(differ && p.Spec.NodeName != "", started(p)))...)
	}
	if c.Preemptor != nil {
		line("preemptor", model.Key(c.Preemptor), podDetails(c.Preemptor)...)
	} else {
		line("preemptor", c.PreemptorGroup)
	}
	if p := c.Settings.MinCandidateNodesPercentage; p != nil {
		line("scheduler", "minCandidateNodesPercentage", fmt.Sprint(*p))
	}
	if n := c.Settings.MinCandidateNodesAbsolute; n != nil {
		line("scheduler", "minCandidateNodesAbsolute", fmt.Sprint(*n))
	}
	if p := c.Settings.SecondProfile; p != nil {
		line("scheduler", "second profile "+p.SchedulerName)
	}
	for _, gate := range slices.Sorted(maps.Keys(c.Settings.FeatureGates)) {
		line("scheduler", gate, fmt.Sprint(c.Settings.FeatureGates[gate]))
	}
	for i := range c.Settings.Extenders {
		line("extender", c.Settings.Extenders[i].Name, extenderDetails(&c.Settings.Extenders[i])...)
	}
	w.Flush()
	return out.String()
}

// details are what there is to tell about an object; empty ones are left out.
type details []string

func (d *details) add(condition bool, format string, args ...any) {
	if condition {
		*d = append(*d, fmt.Sprintf(format, args...))
	}
}

func extenderDetails(e *model.Extender) (d details) {
	list := func(verb string, nodes []string) { d.add(len(nodes) > 0, "%s %v", verb, nodes) }
	d.add(e.Ignorable, "ignorable")
	list("manages", e.ManagedResources)
	if f := e.Filter; f != nil {
		d.add(f.Fails, "filter fails")
		list("rejects", f.Rejects)
		list("excludes", f.Excludes)
		list("omits", f.Omits)
	}
	if p := e.Preempt; p != nil {
		d.add(p.Fails != "", "preempt fails: %s", p.Fails)
		d.add(p.Nothing, "returns no node")
		list("drops", p.Drops)
		for _, c := range p.Changes {
			text := when(c.Reverses, ", in the opposite order")
			if c.Keeps != nil {
				text += fmt.Sprintf(", only the first %d", *c.Keeps)
			}
			if c.Violations != nil {
				text += fmt.Sprintf(", with %d violations", *c.Violations)
			}
			d.add(true, "victims on %s%s", c.Node, text)
		}
	}
	return d
}

func when(condition bool, text string) string {
	if condition {
		return text
	}
	return ""
}

// labels leaves out the one that every node has.
func labels(set map[string]string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(set)) {
		if key != v1.LabelHostname {
			parts = append(parts, key+"="+set[key])
		}
	}
	return strings.Join(parts, ",")
}

// expected says in a sentence what a case expects.
func expected(x *corpus.Expectation) string {
	if x.Outcome != corpus.Preempted {
		return map[string]string{
			corpus.Scheduled:   "the pod fits",
			corpus.NotHelpful:  "preemption does not help; a nomination of the pod is cleared",
			corpus.NotEligible: "the pod may not preempt",
			corpus.Error:       "an error",
		}[x.Outcome]
	}
	var answers []string
	for _, n := range x.Nominations {
		answers = append(answers, nominates(n.Node, n.Victims, n.Violations, x.Clears))
	}
	return strings.Join(answers, ", or ")
}

// observed says in a sentence what a scheduler did.
func observed(o *model.Observation) string {
	switch {
	case o.CycleError != "":
		return "an error: " + o.CycleError
	case o.ScheduledTo != "":
		return "the pod fits on " + o.ScheduledTo
	case o.Pick != nil:
		var cleared []string
		if o.Actuation != nil {
			cleared = o.Actuation.Cleared
		}
		return nominates(o.Pick.Node, o.Pick.Victims, o.Pick.Violations, cleared)
	case o.Actuation != nil:
		return fmt.Sprintf("%s: %s; the nomination is %s", o.PostFilterCode, o.PostFilterMessage, o.Actuation.Nomination)
	}
	return o.PostFilterCode + ": " + o.PostFilterMessage
}

func nominates(node string, victims []string, violations int, cleared []string) string {
	text := fmt.Sprintf("nominates %s, preempts %s, %d violations", node, strings.Join(victims, " "), violations)
	if len(cleared) > 0 {
		text += ", clears the nomination of " + strings.Join(cleared, " ")
	}
	return text
}

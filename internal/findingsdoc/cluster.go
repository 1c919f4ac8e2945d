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
	"github.com/preemptcheck/preemptcheck/properties/explanation"
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
			gang, what := "", cmp.Or(mode, "disrupted pod by pod")
			if c.PreemptorGroup != "" {
				what = mode // others matter little
			}
			if policy := g.Spec.SchedulingPolicy.Gang; policy != nil && c.PreemptorGroup != "" {
				gang = fmt.Sprintf("minCount %d", policy.MinCount)
			}
			line("pod group", model.Key(g), fmt.Sprintf("priority %d", ptr.Deref(g.Spec.Priority, 0)), gang, what)
		}
	}
	differ := startsDiffer(c)
	for _, p := range c.Pods {
		line("pod", model.Key(p), append(podDetails(p), when(differ && p.Spec.NodeName != "", started(p)))...)
	}
	if c.Preemptor != nil {
		line("preemptor", model.Key(c.Preemptor), podDetails(c.Preemptor)...)
	} else {
		line("preemptor", model.GroupTitle(c.PreemptorGroup))
	}
	if p := c.Settings.MinCandidateNodesPercentage; p != nil {
		line("scheduler", "minCandidateNodesPercentage", fmt.Sprint(*p))
	}
	if n := c.Settings.MinCandidateNodesAbsolute; n != nil {
		line("scheduler", "minCandidateNodesAbsolute", fmt.Sprint(*n))
	}
	if len(c.Settings.Configuration) > 0 {
		line("scheduler", "configuration", string(c.Settings.Configuration))
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
func expected(x *corpus.Expectation, ofGroup bool) string {
	if ofGroup && x.Outcome != corpus.Preempted {
		return map[string]string{
			corpus.Scheduled:   "enough pods of the group fit, and are bound",
			corpus.NotHelpful:  "preemption does not help; nominations of the group's pods are cleared",
			corpus.NotEligible: "the group may not preempt",
			corpus.Error:       "an error",
			corpus.Waiting:     "the group waits",
		}[x.Outcome]
	}
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
		to := n.Node
		if n.Members != nil {
			to = eachNode(n.Members)
		}
		answers = append(answers, nominates(to, n.Victims, n.Violations, x.Clears))
	}
	return strings.Join(answers, ", or ")
}

// observed says in a sentence what a scheduler did.
func observed(o *model.Observation) string {
	switch {
	case o.CycleError != "":
		return "an error: " + o.CycleError
	case o.Group != nil:
		return observedGroup(o)
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

// observedGroup says in a sentence what a scheduler did with a pod group.
func observedGroup(o *model.Observation) string {
	nodes := map[string]string{}
	for _, at := range explanation.Bound(o) {
		nodes[at.Pod] = at.Node
	}
	switch g := o.Group; {
	case g.Waits != "":
		return "the group waits"
	case len(nodes) > 0:
		return "binds " + eachNode(nodes)
	case g.Code == "":
		return "nobody fits, and nobody is preempted"
	default:
		for pod, end := range g.Members {
			if end.Held != "" {
				nodes[pod] = end.Held
			}
		}
		if len(g.Placed) == 0 {
			text := fmt.Sprintf("%s: %s", g.Code, g.Message)
			if len(nodes) > 0 {
				text += "; nominated stays " + eachNode(nodes)
			}
			return text
		}
		return nominates(eachNode(nodes), g.Victims, g.Violations, o.Actuation.Cleared)
	}
}

// eachNode is "default/a to node1, default/b to node2".
func eachNode(nodes map[string]string) string {
	var all []string
	for _, pod := range slices.Sorted(maps.Keys(nodes)) {
		all = append(all, pod+" to "+nodes[pod])
	}
	return strings.Join(all, ", ")
}

func nominates(node string, victims []string, violations int, cleared []string) string {
	text := fmt.Sprintf("nominates %s, preempts %s, %d violations", node, strings.Join(victims, " "), violations)
	if len(victims) == 0 {
		text = fmt.Sprintf("nominates %s, preempts nobody", node)
	}
	if len(cleared) > 0 {
		text += ", clears the nomination of " + strings.Join(cleared, " ")
	}
	return text
}

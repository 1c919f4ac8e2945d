package story

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// atPlace says of each place what does not happen while something is held there, and what
// happens once it is let go. %s is the pod, or the kind of object in the plural.
var atPlace = map[timeline.PlaceName]struct{ held, goes string }{
	timeline.Pop:       {"the queue hands out no pod", "the queue hands out a pod"},
	timeline.Filter:    {"the scheduling cycle of %s stops before the filters: it knows the nodes as they are when it goes on", "the scheduling cycle of %s goes on to the filters"},
	timeline.Requeue:   {"where %s does not fit, the scheduling cycle stops once victims are chosen, before the pod is back in a queue", "the scheduling cycle of %s goes on, and puts the pod back into a queue"},
	timeline.Preempt:   {"the goroutine that preempts for %s does not begin", "the goroutine that preempts for %s begins"},
	timeline.Preempted: {"the goroutine that preempts for %s stops at its end, before it may wake the pod up", "the goroutine that preempts for %s comes to its end"},
	timeline.Permit:    {"%s is assumed on its node, and a plugin makes it wait for its permission", "%s has its permission, and goes on to be bound"},
	timeline.PreBind:   {"%s is assumed on its node, but not bound yet", "%s goes on to be bound"},
	timeline.PreBound:  {"%s is assumed on its node, and its last PreBind plugin does not return, whatever becomes of the pod", "the last PreBind plugin of %s returns without an error"},
	timeline.Unreserve: {"where %s is not to be bound after all, it stays assumed on its node", "the way of %s to its node ends"},
	timeline.Record:    {"what has recorded an event about %s stops there", "what has recorded an event about %s goes on"},
	timeline.Patch:     {"API calls that patch the status of %s are not sent", "the API call that patches the status of %s is sent"},
	timeline.Evict:     {"API calls that delete %s are not sent", "the API call that deletes %s is sent"},
	timeline.Bind:      {"API calls that bind %s are not sent", "the API call that binds %s is sent"},
	timeline.Store:     {"events of %s do not reach the store of the scheduler's informer: the scheduler knows nothing of them", "events of %s reach the store of the scheduler's informer"},
	timeline.Handle:    {"events of %s reach the store of the scheduler's informer, but its event handlers do not run: neither its cache nor its queue knows of them", "event handlers for %s run"},
	timeline.Start:     {"no kubelet starts %s", "the kubelet starts %s"},
	timeline.Stop:      {"no kubelet ends %s when its grace period is over", "the kubelet ends %s, whose grace period is over"},
}

// ofPlace fills in what a place is of.
func ofPlace(text string, p *timeline.Place) string {
	if !strings.Contains(text, "%s") {
		return text
	}
	switch {
	case p.Name.OfKind() && p.Kind == "":
		return fmt.Sprintf(text, "all objects")
	case p.Name.OfKind():
		return fmt.Sprintf(text, kindWords(p.Kind))
	case p.Pod == "":
		return fmt.Sprintf(text, "any pod")
	}
	return fmt.Sprintf(text, p.Pod)
}

// kindWords is a kind of object in the plural.
func kindWords(kind string) string {
	return ifElse(kind == "PodDisruptionBudget", "budgets", strings.ToLower(kind[:1])+kind[1:]+"s")
}

// placed says what a step does to a place or to API calls.
func placed(s *timeline.Step, text string) string {
	switch {
	case s.Fail != nil:
		return fails(s.Fail)
	case s.Hold != nil:
		return "Held from here on: " + ofPlace(atPlace[s.Hold.Name].held, s.Hold) + "."
	case s.Release != nil:
		return "Not held any more: " + ofPlace(atPlace[s.Release.Name].goes, s.Release) + "."
	case s.Next != nil && text == noneHeld:
		return "Nothing waits at the place " + s.Next.String() + ", so nothing is let go."
	case s.Next != nil && s.Next.Name.OfKind():
		return "Only the first event that is held is let go: " + ofPlace(atPlace[s.Next.Name].goes, s.Next) + "."
	case s.Next != nil:
		return "Only the first that is held is let go: " + ofPlace(atPlace[s.Next.Name].goes, s.Next) + "."
	}
	return ""
}

// calls are what API calls do.
var calls = map[timeline.PlaceName]string{timeline.Patch: "patches the status of", timeline.Evict: "deletes", timeline.Bind: "binds"}

// fails says how API calls are made to fail.
func fails(f *timeline.Failure) string {
	pod := f.Pod
	if pod == "" {
		pod = "any pod"
	}
	which := "The next API call that " + calls[f.Call] + " " + pod + " fails"
	if f.Times > 1 {
		which = fmt.Sprintf("The next %d times that the scheduler %s %s, the API call fails", f.Times, calls[f.Call], pod)
	}
	return which + ifElse(f.Arrives, " though it takes effect: the answer is ", ": the answer is ") + f.Error + "."
}

// noneHeld is the text of an entry about a place where nothing was held.
const noneHeld = "none"

// Start describes the cluster at the start of a timeline, a line for each object.
func Start(c *model.Cluster) (lines []string) {
	for _, n := range c.Nodes {
		lines = append(lines, "Node "+n.Name+" has "+words.Resources(n.Status.Allocatable)+ifSo(n.Spec.Unschedulable, ", and is unschedulable"))
	}
	for _, p := range c.Pods {
		lines = append(lines, "Pod "+model.Key(p)+" "+ifElse(p.Spec.NodeName != "", "runs on "+p.Spec.NodeName, "is pending")+": "+podWords(p))
	}
	for _, b := range c.PodDisruptionBudgets {
		lines = append(lines, fmt.Sprintf("PodDisruptionBudget %s allows %d disruptions", model.Key(b), b.Status.DisruptionsAllowed))
	}
	for _, o := range c.Extra {
		if g, ok := o.(*schedulingv1beta1.PodGroup); ok {
			lines = append(lines, "PodGroup "+model.Key(g)+": "+groupWords(g))
		}
	}
	for _, gate := range slices.Sorted(maps.Keys(c.Settings.FeatureGates)) {
		lines = append(lines, fmt.Sprintf("The feature gate %s is %t", gate, c.Settings.FeatureGates[gate]))
	}
	return lines
}

// Created describes the pods that the steps of a timeline create, a line for each.
func Created(t *timeline.Timeline) (lines []string) {
	for i := range t.Steps {
		if p := t.Steps[i].CreatedPod(); p != nil {
			if line := "Pod " + model.Key(p) + " is created: " + podWords(p); !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// groupWords are what decides about a group.
func groupWords(g *schedulingv1beta1.PodGroup) string {
	all := []string{fmt.Sprintf("priority %d", ptr.Deref(g.Spec.Priority, 0))}
	if gang := g.Spec.SchedulingPolicy.Gang; gang != nil {
		all = append(all, fmt.Sprintf("it needs %d of its pods", gang.MinCount))
	}
	if mode := g.Spec.DisruptionMode; mode != nil && mode.All != nil {
		all = append(all, "its pods are preempted together or not at all")
	}
	return strings.Join(all, ", ")
}

// podWords are what decides about a pod.
func podWords(p *v1.Pod) string {
	all := []string{fmt.Sprintf("priority %d", model.Priority(p))}
	if group := p.Spec.SchedulingGroup; group != nil && group.PodGroupName != nil {
		all = append(all, "of group "+*group.PodGroupName)
	}
	for i := range p.Spec.Containers {
		if r := words.Resources(p.Spec.Containers[i].Resources.Requests); r != "" {
			all = append(all, "requests "+r)
		}
		for _, port := range p.Spec.Containers[i].Ports {
			if port.HostPort > 0 {
				all = append(all, fmt.Sprintf("host port %d", port.HostPort))
			}
		}
	}
	if g := p.Spec.TerminationGracePeriodSeconds; p.Spec.NodeName != "" && ptr.Deref(g, v1.DefaultTerminationGracePeriodSeconds) != v1.DefaultTerminationGracePeriodSeconds {
		all = append(all, fmt.Sprintf("grace period %d s", *g))
	}
	for _, key := range slices.Sorted(maps.Keys(p.Spec.NodeSelector)) {
		all = append(all, fmt.Sprintf("for nodes with %s=%s", key, p.Spec.NodeSelector[key]))
	}
	if p.Spec.PriorityClassName != "" {
		all = append(all, "priority class "+p.Spec.PriorityClassName)
	}
	if a := p.Spec.Affinity; a != nil {
		all = append(all, slices.DeleteFunc([]string{ifSo(a.NodeAffinity != nil, "node affinity"), ifSo(a.PodAffinity != nil, "pod affinity"),
			ifSo(a.PodAntiAffinity != nil, "pod anti-affinity")}, func(s string) bool { return s == "" })...)
	}
	if len(p.Spec.TopologySpreadConstraints) > 0 {
		all = append(all, "topology spread constraints")
	}
	if len(p.Finalizers) > 0 {
		all = append(all, "finalizers")
	}
	if len(p.Spec.SchedulingGates) > 0 {
		all = append(all, "scheduling gates")
	}
	if p.Status.NominatedNodeName != "" {
		all = append(all, "nominated to "+p.Status.NominatedNodeName)
	}
	return strings.Join(all, ", ")
}

// crashWords say how the scheduler breaks, and in which of its functions.
func crashWords(c *model.Crash) string {
	does := "panics"
	switch c.Kind {
	case model.Hang:
		does = "hangs"
	case model.Exit:
		does = "ends its process"
	}
	where := ifSo(c.Where != "unknown", " in "+c.Where)
	return fmt.Sprintf("Here the scheduler %s%s: %s.", does, where, strings.TrimSuffix(words.FirstLine(c.Message), "."))
}

func ifSo(condition bool, text string) string { return ifElse(condition, text, "") }

func ifElse(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}

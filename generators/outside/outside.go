// Package outside gives generated clusters what modelled plugins from outside look at, so that what these decide matters.
package outside

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/outside"
)

// Adorn changes a generated cluster for a plugin: the same way for the same seed. It leaves other plugins' clusters alone.
func Adorn(plugin string, c *model.Cluster, seed uint64) {
	if c.Preemptor == nil {
		return
	}
	s := draw.FromSeed(rand.NewPCG(seed, 0x0d5).Uint64())
	switch plugin {
	case outside.PreemptionToleration:
		giveTolerations(s, c)
	case outside.CapacityScheduling:
		giveQuotas(s, c)
	}
}

// scheduled is when pods were scheduled: long ago, by the clock of any scheduler.
var scheduled = metav1.NewTime(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))

// giveTolerations has pods of most priorities below the preemptor's name a class that says what they tolerate.
func giveTolerations(s draw.Source, c *model.Cluster) {
	if !s.Chance(90) {
		return
	}
	var priorities []int32
	for _, p := range c.Pods {
		if priority := model.Priority(p); p.Spec.PriorityClassName == "" && !slices.Contains(priorities, priority) {
			priorities = append(priorities, priority)
		}
	}
	slices.Sort(priorities)
	own := model.Priority(c.Preemptor)
	for i, priority := range priorities {
		classes := 1 + s.Intn(2)                                                   // of one value
		if !s.Chance(70) || priority >= 999_999_999 || priority == math.MinInt32 { // those above are system classes
			continue
		}
		var names []string
		for j := range classes {
			class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("tolerant-%d-%d", i, j), Annotations: map[string]string{}}, Value: priority,
				PreemptionPolicy: ptr.To(v1.PreemptLowerPriority)}
			if s.Chance(8) { // it was deleted, and made anew with another value
				class.Value += int32(s.Intn(3)) - 1
			}
			if near := []int32{own - 1, own, own + 1, priority + 1, own + 1000}; s.Chance(85) && own < math.MaxInt32-1000 && own > math.MinInt32 {
				class.Annotations[outside.MinimumPreemptablePriority] = strconv.Itoa(int(near[draw.Weighted(s, 15, 20, 45, 10, 10)]))
			}
			if seconds := []string{"-1", "600", "5000000000", "0", "10000000000"}; s.Chance(85) {
				class.Annotations[outside.TolerationSeconds] = seconds[draw.Weighted(s, 40, 20, 30, 8, 2)]
			}
			if s.Chance(2) {
				class.Annotations[outside.TolerationSeconds] = "ten minutes"
			}
			if len(class.Annotations) == 0 {
				class.Annotations = nil
			}
			names = append(names, class.Name)
			if !s.Chance(3) { // else it was deleted, and its pods remain
				c.PriorityClasses = append(c.PriorityClasses, class)
			}
		}
		for _, p := range c.Pods {
			if model.Priority(p) != priority || p.Spec.PriorityClassName != "" {
				continue
			}
			p.Spec.PriorityClassName, p.Spec.Priority = names[s.Intn(len(names))], &priority
			if p.Spec.PreemptionPolicy == nil { // as admission does
				p.Spec.PreemptionPolicy = ptr.To(v1.PreemptLowerPriority)
			}
			if p.Spec.NodeName != "" && s.Chance(90) {
				p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{Type: v1.PodScheduled, Status: v1.ConditionTrue, LastTransitionTime: scheduled})
			}
		}
	}
}

// Teams are the namespaces to which pods are moved.
var teams = []string{"team-a", "team-b"}

// most is what all amounts are below in a cluster that gets quotas.
const most = 1 << 50

// giveQuotas moves pods that nothing ties to their namespace to others, and gives namespaces quotas about what their pods use.
func giveQuotas(s draw.Source, c *model.Cluster) {
	if !s.Chance(92) {
		return
	}
	for _, p := range append([]*v1.Pod{c.Preemptor}, c.Pods...) {
		if s.Chance(60) && len(p.Spec.Volumes) == 0 && len(p.Spec.ResourceClaims) == 0 && p.Spec.SchedulingGroup == nil {
			p.Namespace = teams[s.Intn(len(teams))]
		}
	}
	used := map[string]v1.ResourceList{}
	want := v1.ResourceList{}
	if !add(want, filter.Requested(c.Preemptor)) {
		return
	}
	for _, p := range c.Pods {
		if used[p.Namespace] == nil {
			used[p.Namespace] = v1.ResourceList{}
		}
		if p.Spec.NodeName != "" && !add(used[p.Namespace], filter.Requested(p)) {
			return
		}
	}
	own := c.Preemptor.Namespace
	for _, namespace := range append([]string{metav1.NamespaceDefault}, teams...) {
		if !s.Chance(85) {
			continue
		}
		uses := v1.ResourceList{}
		for name, q := range used[namespace] {
			uses[name] = q
		}
		for name := range want {
			if _, ok := uses[name]; !ok {
				uses[name] = resource.Quantity{}
			}
		}
		spec := map[string]any{}
		if s.Chance(92) {
			spec["min"] = share(s, uses, want, []string{"none", "half", "less", "all", "with", "double"}[weighted(s, namespace == own)])
		}
		if s.Chance(60) {
			spec["max"] = share(s, uses, want, []string{"with", "double", "all", "less"}[draw.Weighted(s, 35, 35, 20, 10)])
		}
		c.Extra = append(c.Extra, runtime.Object(&unstructured.Unstructured{Object: map[string]any{"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "ElasticQuota",
			"metadata": map[string]any{"name": "quota", "namespace": namespace}, "spec": spec}}))
	}
}

// weighted draws how much of what a namespace uses is its min: mostly more than that in the preemptor's own, and less in others.
func weighted(s draw.Source, own bool) int {
	if own {
		return draw.Weighted(s, 5, 10, 10, 15, 30, 30)
	}
	return draw.Weighted(s, 15, 25, 25, 15, 10, 10)
}

// share is an amount of each resource, about that which is used; one is left out now and then.
func share(s draw.Source, used, want v1.ResourceList, how string) map[string]any {
	list := map[string]any{}
	names := make([]string, 0, len(used))
	for name := range used {
		names = append(names, string(name))
	}
	slices.Sort(names)
	for _, name := range names {
		n, pod := used[v1.ResourceName(name)], want[v1.ResourceName(name)]
		milli := n.MilliValue()
		switch how {
		case "none":
			milli = 0
		case "half":
			milli /= 2
		case "less":
			milli = max(milli-1000, 0)
		case "with":
			milli += pod.MilliValue()
		case "double":
			milli = 2*milli + pod.MilliValue()
		}
		if !s.Chance(5) {
			list[name] = resource.NewMilliQuantity(milli, resource.DecimalSI).String()
		}
	}
	return list
}

// add adds what a pod takes to a list, and is false if that is huge.
func add(list v1.ResourceList, amounts filter.Resources) bool {
	for _, a := range amounts {
		n := a.Units()
		if n > most/1000 {
			return false
		}
		if !filter.IsScheduled(a.Name) {
			continue
		}
		q := resource.NewQuantity(n, resource.DecimalSI)
		if a.Name == v1.ResourceCPU {
			q = resource.NewMilliQuantity(n, resource.DecimalSI)
		}
		had := list[a.Name]
		had.Add(*q)
		list[a.Name] = had
	}
	return true
}

package timelines

import (
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// related gives a pod terms about where other pods are.
func (g *generator) related(p *v1.Pod) {
	like := &metav1.LabelSelector{MatchLabels: map[string]string{"app": draw.Pick(g.Source, "a", "b")}}
	terms := []v1.PodAffinityTerm{{LabelSelector: like, TopologyKey: v1.LabelHostname}}
	if g.affinity && g.Chance(35) {
		p.Spec.Affinity = &v1.Affinity{}
		if g.Chance(65) {
			p.Spec.Affinity.PodAntiAffinity = &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}
		} else {
			p.Spec.Affinity.PodAffinity = &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}
		}
	}
	if g.spread && g.Chance(35) {
		p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: v1.LabelHostname, WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: like,
		}}
	}
}

// resize changes what a pod requests: mostly one of the start, in place. One that waits may be resized, too.
func (g *generator) resize() {
	n := len(g.cluster.Pods)
	if n == 0 {
		return
	}
	name := model.Key(g.cluster.Pods[g.Intn(min(n, draw.MaxIntn))])
	if g.Chance(40) {
		name = g.anyPod()
	}
	g.change("Pod "+name, map[string]any{"spec": map[string]any{"containers": []map[string]any{
		{"name": "c", "resources": map[string]any{"requests": map[string]any{"cpu": draw.Pick(g.Source, "100m", "500m", "1", "2")}}},
	}}})
}

// narrow lets a pod that has scheduling gates go to one node only: that may be done as long as it has
// them.
func (g *generator) narrow() {
	var gated []string
	for i := range g.steps {
		s := &g.steps[i]
		if p := s.CreatedPod(); p != nil && len(p.Spec.SchedulingGates) > 0 {
			gated = append(gated, "Pod "+model.Key(p))
		}
		if strings.Contains(string(s.With), "schedulingGates") {
			gated = slices.DeleteFunc(gated, func(name string) bool { return name == s.Change })
		}
	}
	if len(gated) == 0 {
		return
	}
	g.change(gated[g.Intn(len(gated))], map[string]any{"spec": map[string]any{"nodeSelector": map[string]any{v1.LabelHostname: g.nodes[g.Intn(len(g.nodes))]}}})
}

// touch changes of a pod what may be changed at any time, and is no matter to the scheduler.
func (g *generator) touch(pod string) {
	if g.Chance(50) {
		g.change("Pod "+pod, map[string]any{"spec": map[string]any{"containers": []map[string]any{{"name": "c", "image": "image:" + strconv.Itoa(g.Intn(3))}}}})
		return
	}
	g.change("Pod "+pod, map[string]any{"spec": map[string]any{"activeDeadlineSeconds": 100000 - 1000*len(g.steps)}})
}

const className = "PriorityClass class"

// class is the priority class of some pods.
func class() *schedulingv1.PriorityClass {
	return &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "class"}, Value: 5, PreemptionPolicy: new(v1.PreemptLowerPriority)}
}

// changeClass deletes the class of some pods, lets others come that have it, makes it anew, or
// changes what of it may be changed.
func (g *generator) changeClass() {
	gone := false
	for i := range g.steps {
		switch _, created := g.steps[i].Create.(*schedulingv1.PriorityClass); {
		case created:
			gone = false
		case g.steps[i].Delete == className:
			gone = true
		}
	}
	switch {
	case gone && g.Chance(60):
		g.add(timeline.Step{Create: class()})
	case g.Chance(40):
		g.change(className, map[string]any{"description": "changed " + strconv.Itoa(len(g.steps))})
	default:
		g.add(timeline.Step{Delete: className})
	}
	g.createPreemptor()
}

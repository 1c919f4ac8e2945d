package configuration

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// Unmodelled reports what of the profile could change a decision about a pod of the cluster and is not modelled. What
// only scores nodes, and what happens once a pod has a node, does not matter.
func (p *Profile) Unmodelled(c *model.Cluster, pod *v1.Pod, plugins []filter.Plugin) (u model.Unmodelled) {
	report := func(field, why string) { u.Add("scheduler", "configuration."+field, why) }
	p.ofPoints(plugins, report)
	if !p.Preempts(plugins) && len(pod.Spec.ResourceClaims) > 0 {
		report(p.at+".plugins.postFilter", "a profile that does not preempt, and gives back devices")
	}
	if !p.Binds(plugins) {
		report(p.at+".plugins.reserve", "pods that fit and cannot be bound: "+volumes+" is not enabled at preFilter")
	}
	p.ofConstraints(c, pod, report)
	p.ofArguments(pod, report)
	for i, e := range p.file.Extenders {
		for _, verb := range [][2]string{{"filterVerb", e.FilterVerb}, {"preemptVerb", e.PreemptVerb}, {"bindVerb", e.BindVerb}} {
			if verb[1] != "" && e.interested(pod) {
				u = append(u, model.UnmodelledField{Object: "scheduler", Field: fmt.Sprintf("configuration.extenders[%d].%s", i, verb[0]),
					Why: "what an extender answers over the network", Chance: true})
			}
		}
	}
	return u
}

// ofPoints reports what is enabled at the extension points that decide.
func (p *Profile) ofPoints(plugins []filter.Plugin, report func(field, why string)) {
	known := defaults(plugins)
	points := map[string][]string{}
	for _, point := range []string{"preEnqueue", "preFilter", "filter", "postFilter"} {
		points[point] = p.enabled(point, known)
		for _, name := range points[point] {
			if !slices.Contains(known, name) && !onlyScores(name) {
				report(p.at+".plugins", name+", which no model is of")
			}
		}
	}
	missing := func(point, name, why string) {
		if !slices.Contains(points[point], name) {
			report(p.at+".plugins."+point, why)
		}
	}
	if slices.Contains(points["postFilter"], preemption) {
		missing("preEnqueue", preemption, "preemption whose preemptor is queued meanwhile: "+preemption+" is not enabled there")
	}
	missing("preEnqueue", gates, "pods with scheduling gates that are scheduled: "+gates+" is not enabled there")
	if slices.Contains(points["filter"], devices) && slices.Contains(points["postFilter"], preemption) {
		missing("postFilter", devices, devices+" that gives back no devices: it is not enabled there")
	}
	inBoth := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return !slices.Contains(known, name) || !inPlace["preFilter"](name) || !inPlace["filter"](name)
		})
	}
	before, there := inBoth(points["preFilter"]), inBoth(points["filter"])
	for _, name := range known {
		switch had, has := slices.Contains(before, name), slices.Contains(there, name); {
		case had && !has:
			report(p.at+".plugins.filter", name+" that is enabled at preFilter only")
		case has && !had:
			report(p.at+".plugins.preFilter", name+" that is enabled at filter only")
		}
	}
}

// onlyScores tells whether a plugin that comes with the scheduler, and that is no filter plugin, has no say in
// decisions.
func onlyScores(name string) bool {
	return slices.Contains([]string{"PrioritySort", "DefaultBinder", "ImageLocality", "NodeResourcesBalancedAllocation"}, name)
}

// ofConstraints reports the default constraints of which documents do not say what they come to for the pod.
func (p *Profile) ofConstraints(c *model.Cluster, pod *v1.Pod, report func(field, why string)) {
	if len(pod.Spec.TopologySpreadConstraints) > 0 {
		return
	}
	path, all := p.defaultConstraints()
	if !slices.ContainsFunc(all, isHard) {
		return
	}
	_, open := selectorOf(pod, c.Extra, c.Pods)
	for i, constraint := range all {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case !isHard(constraint):
		case open != "":
			report(at, "constraints that pods have by default: "+open)
		case len(constraint.MatchLabelKeys) > 0:
			report(at+".matchLabelKeys", "keys of labels beside a selector that follows from what the pod belongs to")
		}
	}
}

// ofArguments reports what is in the arguments of other plugins.
func (p *Profile) ofArguments(pod *v1.Pod, report func(field, why string)) {
	var patience struct {
		FilterTimeout  *metav1.Duration `json:"filterTimeout"`
		BindingTimeout *metav1.Duration `json:"bindingTimeout"`
	}
	path, ok := p.args(devices, &patience)
	if ok && patience.FilterTimeout != nil && short(patience.FilterTimeout.Duration) {
		report(path+".filterTimeout", "a filter that gives up after some time")
	}
	if ok && len(pod.Spec.ResourceClaims) > 0 && patience.BindingTimeout != nil && patience.BindingTimeout.Duration > device.BindingTimeout {
		report(path+".bindingTimeout", "devices that are waited for longer than by default")
	}
}

// short tells whether a filter that gives up after d may do so: zero is never (apis/config/types_pluginargs.go:258@v1.37.1,
// DynamicResourcesArgs).
func short(d time.Duration) bool { return 0 < d && d < defaultFilterTimeout }

// defaultFilterTimeout is that of the plugin DynamicResources (kube-scheduler/config/v1/types.go:473@v0.37.1, DynamicResourcesFilterTimeoutDefault).
const defaultFilterTimeout = 10 * time.Second

// interested tells whether an extender is asked about a pod: about all if it manages no resource, else about those
// that request one of its own (config/v1/types.go@v0.37.1, Extender.ManagedResources).
func (e *extender) interested(pod *v1.Pod) bool {
	its := func(c v1.Container) bool {
		for _, r := range e.ManagedResources {
			_, requested := c.Resources.Requests[v1.ResourceName(r.Name)]
			_, limited := c.Resources.Limits[v1.ResourceName(r.Name)]
			if requested || limited {
				return true
			}
		}
		return false
	}
	return len(e.ManagedResources) == 0 || slices.ContainsFunc(pod.Spec.Containers, its) || slices.ContainsFunc(pod.Spec.InitContainers, its)
}

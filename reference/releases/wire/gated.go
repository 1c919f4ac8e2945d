package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
)

// gatedFields are fields of pods that came behind a feature gate. While the gate
// is off, the API server drops them (pkg/api/pod/util.go:DropDisabledPodFields),
// and the scheduler does not look at them.
var gatedFields = []struct{ gate, path string }{
	{"DynamicResourceAllocation", "spec.resourceClaims"},
	{"EvenPodsSpread", "spec.topologySpreadConstraints"},
	{"GenericWorkload", "spec.schedulingGroup"},
	{"GenericWorkload", "spec.workloadRef"},
	{"InPlacePodVerticalScaling", "status.containerStatuses.allocatedResources"},
	{"InPlacePodVerticalScaling", "status.containerStatuses.resources"},
	{"InPlacePodVerticalScaling", "status.resize"},
	{"MatchLabelKeysInPodAffinity", "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.matchLabelKeys"},
	{"MatchLabelKeysInPodAffinity", "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.mismatchLabelKeys"},
	{"MatchLabelKeysInPodAffinity", "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.matchLabelKeys"},
	{"MatchLabelKeysInPodAffinity", "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.mismatchLabelKeys"},
	{"MatchLabelKeysInPodTopologySpread", "spec.topologySpreadConstraints.matchLabelKeys"},
	{"MinDomainsInPodTopologySpread", "spec.topologySpreadConstraints.minDomains"},
	{"NodeInclusionPolicyInPodTopologySpread", "spec.topologySpreadConstraints.nodeAffinityPolicy"},
	{"NodeInclusionPolicyInPodTopologySpread", "spec.topologySpreadConstraints.nodeTaintsPolicy"},
	{"NonPreemptingPriority", "spec.preemptionPolicy"},
	{"PodAffinityNamespaceSelector", "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.namespaceSelector"},
	{"PodAffinityNamespaceSelector", "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.namespaceSelector"},
	{"PodLevelResources", "spec.resources"},
	{"PodOverhead", "spec.overhead"},
	{"PodSchedulingReadiness", "spec.schedulingGates"},
	{"SidecarContainers", "spec.initContainers.restartPolicy"},
}

// RefuseDropped returns a Refusal if a pod of r has a field that the API server
// would drop, because off says that its feature gate is known and off. A gate that
// a release does not know is of the past; or of the future, and then the release
// does not know the field either.
func (r *Request) RefuseDropped(off func(gate string) bool) error {
	var refused []string
	for _, f := range gatedFields {
		if !off(f.gate) {
			continue
		}
		path := strings.Split(f.path, ".")
		for i := range path {
			path[i] = `"` + path[i] + `"`
		}
		for i := -1; i < len(r.Pods); i++ {
			pod := r.Preemptor
			if i >= 0 {
				pod = r.Pods[i]
			}
			if has(pod, path) {
				refused = append(refused, fmt.Sprintf("%s: %s, as feature gate %s is off", podName(pod), f.path, f.gate))
			}
		}
	}
	if refused == nil {
		return nil
	}
	return Refusal(strings.Join(refused, "; "))
}

func podName(pod json.RawMessage) string {
	var p struct {
		Metadata struct{ Namespace, Name string }
	}
	_ = json.Unmarshal(pod, &p)
	return "Pod " + p.Metadata.Namespace + "/" + p.Metadata.Name
}

// has tells whether an object, or one of a list, has the field; path is in quotes.
func has(data []byte, path []string) bool {
	if len(path) == 0 {
		return string(data) != "null" && string(data) != "{}" && string(data) != "[]" && string(data) != `""`
	}
	if !bytes.Contains(data, []byte(path[len(path)-1])) { // most objects have none
		return false
	}
	for key, value := range members(data) {
		if key == nil && has(value, path) || string(key) == path[0] && has(value, path[1:]) {
			return true
		}
	}
	return false
}

// members are the fields of an object, keys in quotes, or the elements of a list,
// whose keys are nil; of anything else, none. The data must be valid: it costs a tenth of decoding it.
func members(data []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		data := bytes.TrimSpace(data)
		if data[0] != '{' && data[0] != '[' {
			return
		}
		for i := 1; i < len(data); i++ { // past what opens it, or a comma
			var key []byte
			end := valueEnd(data, i)
			if end < len(data) && data[end] == ':' {
				key, i = bytes.TrimSpace(data[i:end]), end+1
				end = valueEnd(data, i)
			}
			if value := bytes.TrimSpace(data[i:end]); len(value) > 0 && !yield(key, value) {
				return
			}
			i = end
		}
	}
}

// valueEnd is where the value that begins at i ends.
func valueEnd(data []byte, i int) int {
	for depth := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			for i++; data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i
			}
		case ',', ':':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

package releases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/preemptcheck/preemptcheck/model"
)

// request is a wire.Request that is still to be encoded.
type request struct {
	Nodes     []*v1.Node
	Pods      []*v1.Pod
	Budgets   []*policyv1.PodDisruptionBudget
	Preemptor *v1.Pod
	Extra     []object
	Settings  model.Settings
}

// object is a wire.Object that is still to be encoded.
type object struct {
	APIVersion, Kind string
	Object           any
}

// encode leaves out the priority classes: to a scheduler a pod's priority is a
// number.
func encode(c *model.Cluster, release string) ([]byte, error) {
	r := request{
		Nodes: c.Nodes, Pods: c.Pods, Budgets: c.PodDisruptionBudgets, Preemptor: c.Preemptor,
		Settings: c.Settings,
	}
	alpha := mustParse(release).Minor == alphaGroups
	if alpha {
		r.Settings.FeatureGates = withAlphaGates(c.Settings.FeatureGates)
	}
	for _, obj := range c.Extra {
		if group, is := obj.(*schedulingv1beta1.PodGroup); is && alpha {
			converted, err := alphaGroup(group, release)
			if err != nil {
				return nil, err
			}
			r.Extra = append(r.Extra, converted)
			continue
		}
		kinds, _, err := scheme.Scheme.ObjectKinds(obj)
		if err != nil {
			return nil, fmt.Errorf("extra object: %w", err)
		}
		apiVersion, kind := kinds[0].ToAPIVersionAndKind()
		data, err := withoutStatus(obj)
		if err != nil {
			return nil, fmt.Errorf("extra object: %w", err)
		}
		r.Extra = append(r.Extra, object{apiVersion, kind, data})
	}
	data, err := json.Marshal(r)
	data = bytes.ReplaceAll(data, []byte(emptyNodeStatus), nil)
	if mustParse(release).Minor < 37 {
		data = bytes.ReplaceAll(data, []byte(defaultPrevention), nil)
	}
	if mustParse(release).Minor < 19 {
		data = bytes.ReplaceAll(data, []byte(defaultPolicy), nil)
	}
	return data, err
}

// defaultPolicy is in every pod by default since 1.19, and says no more than none. It
// is never the first field of a spec; within a string, its quotes would be escaped.
const defaultPolicy = `,"preemptionPolicy":"PreemptLowerPriority"`

// defaultPrevention is in every CSIDriver by default since 1.37, and says no more than none. It is never the first field of a spec.
const defaultPrevention = `,"preventPodSchedulingIfMissing":false`

// emptyNodeStatus is what takes the most room of a node that says nothing of its
// system. Within a string, its quotes would be escaped.
var emptyNodeStatus = func() string {
	data, err := json.Marshal(v1.NodeStatus{})
	if err != nil {
		panic(err)
	}
	return "," + strings.TrimSuffix(strings.TrimPrefix(string(data), "{"), "}")
}()

// withoutStatus leaves out a status that is empty: an older release may not have
// one for the kind.
func withoutStatus(obj any) (json.RawMessage, error) {
	data, err := json.Marshal(obj)
	if err != nil || !bytes.Contains(data, []byte(`"status":{}`)) {
		return data, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	if string(fields["status"]) == "{}" {
		delete(fields, "status")
	}
	return json.Marshal(fields)
}

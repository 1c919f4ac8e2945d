package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	kjson "sigs.k8s.io/json"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference/releases/wire"
)

// cluster holds the objects of a request as the types of this release.
type cluster struct {
	nodes     []*v1.Node
	pods      []*v1.Pod
	budgets   []any // *budget
	extra     []runtime.Object
	preemptor *v1.Pod
	settings  *model.Settings
	foreign   []wire.Object // of kinds that are not Kubernetes' own
}

// servesKind tells whether there may be objects of a kind that is not Kubernetes' own.
var servesKind = func(apiVersion, kind string) bool { return false }

func decode(r *wire.Request) (*cluster, error) {
	c := &cluster{preemptor: &v1.Pod{}, settings: &r.Settings}
	if len(r.Preemptor) == 0 || string(r.Preemptor) == "null" {
		return nil, errors.New("the cluster has no preemptor")
	}
	var errs []error
	one := func(data []byte, kind string, obj metav1.Object) {
		errs = append(errs, strictly(data, kind, obj))
	}
	one(r.Preemptor, "Pod", c.preemptor)
	for _, data := range r.Nodes {
		c.nodes = append(c.nodes, &v1.Node{})
		one(data, "Node", c.nodes[len(c.nodes)-1])
	}
	for _, data := range r.Pods {
		c.pods = append(c.pods, &v1.Pod{})
		one(data, "Pod", c.pods[len(c.pods)-1])
	}
	for _, data := range r.Budgets {
		b := &budget{}
		one(data, "PodDisruptionBudget", b)
		errs = append(errs, refuseBudget(b))
		c.budgets = append(c.budgets, b)
	}
	for _, o := range r.Extra {
		obj, err := scheme.Scheme.New(schema.FromAPIVersionAndKind(o.APIVersion, o.Kind))
		if err != nil && servesKind(o.APIVersion, o.Kind) {
			c.foreign = append(c.foreign, o)
			continue
		}
		if err != nil {
			errs = append(errs, wire.Refusal(o.APIVersion+" "+o.Kind))
			continue
		}
		c.extra = append(c.extra, obj)
		meta := obj.(metav1.Object)
		one(o.Object, o.Kind, meta)
		if (strings.HasSuffix(o.Kind, "PodGroup") || o.Kind == "ResourceClaim") && meta.GetUID() == "" { // they are told apart by it, too
			meta.SetUID(types.UID(o.Kind + " " + key(meta)))
		}
	}
	if err := refusals(errs); err != nil {
		return nil, err
	}
	for _, p := range append(slices.Clip(c.pods), c.preemptor) {
		if p.UID == "" { // upstream tells pods apart by it
			p.UID = types.UID(key(p))
		}
	}
	return c, nil
}

// strictly decodes an object, and refuses fields that the release does not have:
// the API server would drop them, and the scheduler never see them.
func strictly(data []byte, kind string, obj metav1.Object) error {
	unknown, err := kjson.UnmarshalStrict(data, obj)
	if err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	if len(unknown) == 0 {
		return nil
	}
	var fields []string
	for _, u := range unknown {
		field, ok := u.(kjson.FieldError)
		if !ok {
			return fmt.Errorf("%s: %w", kind, u)
		}
		fields = append(fields, field.FieldPath())
	}
	name := strings.TrimPrefix(key(obj), "/") // of one without a namespace
	return wire.Refusal(fmt.Sprintf("%s %s: %s", kind, name, strings.Join(fields, ", ")))
}

// refusals is all of them as one, or the first error that is none.
func refusals(errs []error) error {
	var all []string
	for _, err := range errs {
		switch refusal, ok := err.(wire.Refusal); {
		case ok:
			all = append(all, string(refusal))
		case err != nil:
			return err
		}
	}
	if len(all) == 0 {
		return nil
	}
	return wire.Refusal(strings.Join(slices.Compact(all), "; "))
}

func key(o metav1.Object) string { return o.GetNamespace() + "/" + o.GetName() }

func keys(pods []*v1.Pod) []string {
	names := make([]string, len(pods))
	for i, p := range pods {
		names[i] = key(p)
	}
	return names
}

package inprocess

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	clienttesting "k8s.io/client-go/testing"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/preemptcheck/preemptcheck/model"
)

// client is an API server that agrees to everything, remembers what it was asked
// to write, and stores nothing: the cluster a cycle sees stays as it was.
type client struct {
	*fake.Clientset // without a tracker; answers what is not overridden below
	writes
}

func newClient() *client {
	c := &client{Clientset: &fake.Clientset{}}
	c.AddReactor("*", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		switch a.GetVerb() {
		case "get", "list", "watch":
		default:
			resource := a.GetResource().Resource
			if a.GetSubresource() != "" {
				resource += "/" + a.GetSubresource()
			}
			if claim := deallocated(a); claim != "" {
				c.add(&c.deallocated, claim)
				break
			}
			c.add(&c.other, fmt.Sprintf("%s %s in namespace %q", a.GetVerb(), resource, a.GetNamespace()))
		}
		return true, nil, nil
	})
	return c
}

// deallocated names the claim that loses its allocation and all that it is reserved
// for, if that is what is written.
func deallocated(a clienttesting.Action) string {
	update, ok := a.(clienttesting.UpdateAction)
	if !ok || a.GetSubresource() != "status" {
		return ""
	}
	claim, ok := update.GetObject().(*resourcev1.ResourceClaim)
	if !ok || claim.Status.Allocation != nil || len(claim.Status.ReservedFor)+len(claim.Status.Devices) > 0 {
		return ""
	}
	return model.Key(claim)
}

// CoreV1 intercepts the two calls of a preemption, past the costly fake.
func (c *client) CoreV1() corev1client.CoreV1Interface {
	return coreClient{c.Clientset.CoreV1(), c}
}

type coreClient struct {
	corev1client.CoreV1Interface
	c *client
}

func (c coreClient) Pods(namespace string) corev1client.PodInterface {
	return podClient{c.CoreV1Interface.Pods(namespace), namespace, c.c}
}

type podClient struct {
	corev1client.PodInterface
	namespace string
	c         *client
}

func (p podClient) Delete(_ context.Context, name string, opts metav1.DeleteOptions) error {
	key := p.namespace + "/" + name
	if opts.GracePeriodSeconds != nil || opts.Preconditions != nil || opts.PropagationPolicy != nil || len(opts.DryRun) > 0 {
		p.c.add(&p.c.other, fmt.Sprintf("delete %s with options %v", key, opts))
		return nil
	}
	p.c.add(&p.c.deleted, key)
	return nil
}

func (p podClient) Patch(_ context.Context, name string, kind types.PatchType, data []byte, _ metav1.PatchOptions, subresources ...string) (*v1.Pod, error) {
	key := p.namespace + "/" + name
	disrupts, clears := false, false
	if kind == types.StrategicMergePatchType && slices.Equal(subresources, []string{"status"}) {
		disrupts, clears = readPatch(data)
	}
	if disrupts {
		p.c.add(&p.c.disrupted, key)
	}
	if clears {
		p.c.add(&p.c.cleared, key)
	}
	if !disrupts && !clears {
		p.c.add(&p.c.other, fmt.Sprintf("patch %s %v: %s", key, subresources, data))
	}
	return &v1.Pod{}, nil
}

// readPatch recognises the two patches of a preemption: the condition
// DisruptionTarget, and a nominated node taken away. A patch that holds anything
// else is neither.
func readPatch(data []byte) (disrupts, clears bool) {
	var patch struct {
		Status map[string]json.RawMessage `json:"status"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if d.Decode(&patch) != nil {
		return false, false
	}
	for field, value := range patch.Status {
		switch field {
		case "$setElementOrder/conditions": // goes with conditions
		case "nominatedNodeName":
			if string(value) != "null" {
				return false, false
			}
			clears = true
		case "conditions":
			var conditions []v1.PodCondition
			// A condition that was True already comes without its status: the
			// patch holds differences only.
			if json.Unmarshal(value, &conditions) != nil || len(conditions) != 1 || conditions[0].Type != v1.DisruptionTarget ||
				conditions[0].Status != v1.ConditionTrue && conditions[0].Status != "" {
				return false, false
			}
			disrupts = true
		default:
			return false, false
		}
	}
	return disrupts, clears
}

// writes are the API writes of one cycle. The goroutine of an asynchronous
// preemption adds to them.
type writes struct {
	mu                                 sync.Mutex
	deleted, disrupted, cleared, other []string
	deallocated                        []string
}

func (w *writes) add(list *[]string, s string) {
	w.mu.Lock()
	*list = append(*list, s)
	w.mu.Unlock()
}

// take moves the writes into a, sorted, and forgets them.
func (c *client) take(a *model.Actuation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a.Deleted, a.DisruptionTarget, a.Cleared, a.Deallocated, a.Other = c.deleted, c.disrupted, c.cleared, c.deallocated, c.other
	c.deleted, c.disrupted, c.cleared, c.deallocated, c.other = nil, nil, nil, nil, nil
	for _, list := range [][]string{a.Deleted, a.DisruptionTarget, a.Cleared, a.Deallocated, a.Other} {
		slices.Sort(list)
	}
	c.ClearActions()
}

// apiCacher stands in for the API dispatcher, through which a scheduler with the
// gate SchedulerAsyncAPICalls sends its patches: the request is the observation.
type apiCacher struct{ c *client }

func (a apiCacher) PatchPodStatus(pod *v1.Pod, conditions []*v1.PodCondition, info *fwk.NominatingInfo) (<-chan error, error) {
	if len(conditions) == 0 && info.Mode() == fwk.ModeOverride && info.NominatedNodeName == "" {
		a.c.add(&a.c.cleared, model.Key(pod))
	} else {
		a.c.add(&a.c.other, fmt.Sprintf("patch %s: %d conditions, nomination %v", model.Key(pod), len(conditions), info))
	}
	return nil, nil
}

func (a apiCacher) BindPod(b *v1.Binding) (<-chan error, error) {
	a.c.add(&a.c.other, "bind "+model.Key(b))
	return nil, nil
}

func (apiCacher) WaitOnFinish(context.Context, <-chan error) error { return nil }

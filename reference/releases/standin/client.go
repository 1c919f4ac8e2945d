// Package standin has what stands in for the surroundings of a scheduler: its API
// server and its extenders.
//
// The drivers of releases from v1.19 on compile it too: it imports nothing but what
// all of them have.
package standin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	clienttesting "k8s.io/client-go/testing"

	"github.com/preemptcheck/preemptcheck/model/observation"
)

// Client is an API server that agrees to everything, remembers what it was asked
// to write, and stores nothing: the cluster a cycle sees stays as it was.
type Client struct {
	*fake.Clientset // without a tracker; answers what is not overridden below

	// Preemptor is the one pod that older releases ask the API server for.
	Preemptor *v1.Pod

	mu                                 sync.Mutex // an asynchronous preemption writes, too
	deleted, disrupted, cleared, other []string
	deallocated                        []string
}

// NewClient makes a client. deallocated names the claim that a write deallocates; "" if
// it is no such write.
func NewClient(deallocated func(clienttesting.Action) string) *Client {
	c := &Client{Clientset: &fake.Clientset{}}
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

// CoreV1 intercepts the two calls of a preemption, past the costly fake.
func (c *Client) CoreV1() corev1client.CoreV1Interface {
	return coreClient{c.Clientset.CoreV1(), c}
}

type coreClient struct {
	corev1client.CoreV1Interface
	c *Client
}

func (c coreClient) Pods(namespace string) corev1client.PodInterface {
	return podClient{c.CoreV1Interface.Pods(namespace), namespace, c.c}
}

type podClient struct {
	corev1client.PodInterface
	namespace string
	c         *Client
}

func (p podClient) Get(ctx context.Context, name string, opts metav1.GetOptions) (*v1.Pod, error) {
	if pod := p.c.Preemptor; pod != nil && pod.Namespace == p.namespace && pod.Name == name {
		return pod, nil
	}
	return p.PodInterface.Get(ctx, name, opts)
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
	disrupts, clears, rest := false, false, []string{string(data)}
	if kind == types.StrategicMergePatchType && slices.Equal(subresources, []string{"status"}) {
		disrupts, clears, rest = readPatch(data)
	}
	if disrupts {
		p.c.add(&p.c.disrupted, key)
	}
	if clears {
		p.c.add(&p.c.cleared, key)
	}
	if len(rest) > 0 {
		slices.Sort(rest)
		p.c.add(&p.c.other, fmt.Sprintf("patch %s %v: %s", key, subresources, strings.Join(rest, ", ")))
	}
	return &v1.Pod{}, nil
}

// readPatch recognises the two patches of a preemption: the condition
// DisruptionTarget, and a nominated node taken away. The rest names what else the
// patch holds: some releases patch the victim with the status of the preemptor
// (kubernetes#126644).
func readPatch(data []byte) (disrupts, clears bool, rest []string) {
	var patch struct {
		Status map[string]json.RawMessage `json:"status"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if d.Decode(&patch) != nil {
		return false, false, []string{string(data)}
	}
	for field, value := range patch.Status {
		switch field {
		case "$setElementOrder/conditions": // goes with conditions
		case "nominatedNodeName":
			if clears = string(value) == "null"; !clears {
				rest = append(rest, field)
			}
		case "conditions":
			var conditions []struct {
				Type   v1.PodConditionType
				Status v1.ConditionStatus
				Patch  string `json:"$patch"`
			}
			if json.Unmarshal(value, &conditions) != nil {
				rest = append(rest, field)
			}
			for _, c := range conditions {
				// A condition that was True already comes without its status: the
				// patch holds differences only.
				if c.Type == "DisruptionTarget" && (c.Status == v1.ConditionTrue || c.Status == "") && c.Patch == "" {
					disrupts = true
				} else {
					rest = append(rest, "condition "+string(c.Type))
				}
			}
		default:
			rest = append(rest, field)
		}
	}
	return disrupts, clears, rest
}

func (c *Client) add(list *[]string, s string) {
	c.mu.Lock()
	*list = append(*list, s)
	c.mu.Unlock()
}

// AddCleared notes that the nomination of a pod was taken away, past the API server.
func (c *Client) AddCleared(pod string) { c.add(&c.cleared, pod) }

// AddOther notes a write that preemption does not make.
func (c *Client) AddOther(what string) { c.add(&c.other, what) }

// Take moves the writes into a, sorted, and forgets them.
func (c *Client) Take(a *observation.Actuation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a.Deleted, a.DisruptionTarget, a.Cleared, a.Deallocated, a.Other = c.deleted, c.disrupted, c.cleared, c.deallocated, c.other
	c.deleted, c.disrupted, c.cleared, c.deallocated, c.other = nil, nil, nil, nil, nil
	for _, list := range [][]string{a.Deleted, a.DisruptionTarget, a.Cleared, a.Deallocated, a.Other} {
		slices.Sort(list)
	}
	c.ClearActions()
}

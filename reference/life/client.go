package life

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	clienttesting "k8s.io/client-go/testing"

	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/reference/life/api"
)

// client is a scheduler's client of the API server.
type client struct {
	*fake.Clientset // without a tracker; answers what is not overridden below
	s               *scheduler
}

func newClient(s *scheduler) *client {
	c := &client{&fake.Clientset{}, s}
	c.AddReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		switch action.GetVerb() {
		case "list", "watch":
			return true, nil, nil
		}
		// A timeline's pods have no volumes and no claims.
		return true, nil, fmt.Errorf("timelines know no %s of %s", action.GetVerb(), action.GetResource().Resource)
	})
	return c
}

// CoreV1 intercepts the calls about pods.
func (c *client) CoreV1() corev1client.CoreV1Interface { return coreClient{c.Clientset.CoreV1(), c.s} }

type coreClient struct {
	corev1client.CoreV1Interface
	s *scheduler
}

func (c coreClient) Pods(namespace string) corev1client.PodInterface {
	return podClient{c.CoreV1Interface.Pods(namespace), namespace, c.s}
}

type podClient struct {
	corev1client.PodInterface
	namespace string
	s         *scheduler
}

// call makes a call about a pod, once it is let go on. uid is that of the pod, if the call tells it.
func (p podClient) call(ctx context.Context, place timeline.PlaceName, name string, uid types.UID, text string, f func(key string) error) error {
	at := timeline.Place{Name: place, Pod: p.namespace + "/" + name}
	e := timeline.Entry{What: timeline.Called, Call: place, Object: "Pod " + at.Pod, UID: uid, Text: text}
	if c, ok := ctx.Value(preemptorKey{}).(caller); ok {
		e.By, e.ByUID = c.name, c.uid
	}
	if !p.s.parkAs(at, at.String()+" "+text+" "+e.By, nil) {
		return errDead
	}
	if err := ctx.Err(); err != nil { // the call was given up before it was sent
		return err
	}
	failure, arrives := p.s.r.failure(at)
	err := failure
	if failure == nil || arrives {
		if err = f(at.Pod); err == nil && failure != nil {
			e.Text = strings.TrimPrefix(e.Text+", took effect", ", ")
		}
		if failure != nil {
			err = failure
		}
	}
	if err != nil {
		e.Error = err.Error()
	}
	p.s.note(e)
	return err
}

func (p podClient) Get(_ context.Context, name string, _ metav1.GetOptions) (*v1.Pod, error) {
	if pod := p.s.r.server.Pod(p.namespace + "/" + name); pod != nil {
		return pod.DeepCopy(), nil
	}
	return nil, api.NotFound(p.namespace + "/" + name)
}

func (p podClient) Delete(ctx context.Context, name string, options metav1.DeleteOptions) error {
	return p.call(ctx, timeline.Evict, name, "", "", func(key string) error { return p.s.r.server.Evict(key, options) })
}

func (p podClient) Bind(ctx context.Context, binding *v1.Binding, _ metav1.CreateOptions) error {
	return p.call(ctx, timeline.Bind, binding.Name, binding.UID, "to "+binding.Target.Name, func(key string) error {
		return p.s.r.server.Bind(key, binding.UID, binding.Target.Name)
	})
}

func (p podClient) Patch(ctx context.Context, name string, kind types.PatchType, data []byte, _ metav1.PatchOptions, subresources ...string) (pod *v1.Pod, err error) {
	if kind != types.StrategicMergePatchType || len(subresources) != 1 || subresources[0] != "status" {
		return nil, fmt.Errorf("timelines know no %s of %v", kind, subresources)
	}
	err = p.call(ctx, timeline.Patch, name, "", summary(data), func(key string) (err error) {
		pod, err = p.s.r.server.Patch(key, data)
		return err
	})
	if pod == nil {
		pod = &v1.Pod{}
	}
	return pod, err
}

// summary says what a patch of a pod's status sets.
func summary(data []byte) string {
	var patch struct {
		Status struct {
			NominatedNodeName json.RawMessage
			Conditions        []v1.PodCondition
		}
	}
	if json.Unmarshal(data, &patch) != nil {
		return string(data)
	}
	var all []string
	switch n := string(patch.Status.NominatedNodeName); n {
	case "":
	case "null", `""`:
		all = append(all, "nomination cleared")
	default:
		all = append(all, "nominated to "+strings.Trim(n, `"`))
	}
	for _, c := range patch.Status.Conditions {
		all = append(all, strings.TrimSuffix(fmt.Sprintf("%s=%s", c.Type, c.Status), "="))
	}
	return strings.Join(all, ", ")
}

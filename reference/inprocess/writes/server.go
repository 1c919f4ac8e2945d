// Package writes is the API server of a scheduler that runs single cycles: it takes every write, and tells which there were.
package writes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	clienttesting "k8s.io/client-go/testing"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/volume"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/linked"
)

// Server takes every write, and writes down which, in order. It stores nothing but
// claims that the scheduler creates, for which it waits: the cluster that a cycle sees
// stays as it was.
type Server struct {
	*fake.Clientset // without a tracker; answers what is not overridden below

	// Before is called before each call: it may hold it back. Gated tells whether the
	// preemptor is kept out of the active queue.
	Before func(*model.Call)
	Gated  func() bool
	// Claims are those of the cluster.
	Claims *linked.Informer
	// Fault is how it fails; nil if it does not.
	Fault *reference.Fault

	// GoesOn is called, and does not return, where a call is made for ever.
	GoesOn func(what string)

	mu     sync.Mutex // an asynchronous preemption writes, too
	calls  []model.Call
	times  map[target]int        // how often each of them was made
	read   map[string]model.Call // patches of statuses, by their text: see readAgain
	failed *model.Call           // the first to meet the fault
	made   []*resourcev1.ResourceClaim
}

// target is what a call is about.
type target struct{ verb, resource, object string }

// tooOften is how often no cycle makes one call: who tries one again does so five times, at the
// most (retry.DefaultRetry).
const tooOften = 100

// New returns a Server that has taken nothing yet. Its fields Before, Gated, Claims and GoesOn are to be set before a scheduler uses it.
func New() *Server {
	a := &Server{Clientset: &fake.Clientset{}, times: map[target]int{}}
	a.AddReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		switch action.GetVerb() {
		case "get":
			// A claim is read before a write to it that met a conflict is tried again.
			if action.GetResource().Resource == "resourceclaims" {
				claim, exists, err := a.Claims.GetIndexer().GetByKey(action.GetNamespace() + "/" + action.(clienttesting.GetAction).GetName())
				if err == nil && exists {
					return true, claim.(*resourcev1.ResourceClaim).DeepCopy(), nil
				}
			}
			return true, nil, nil
		case "list", "watch":
			return true, nil, nil
		}
		c := model.Call{Verb: action.GetVerb(), Resource: action.GetResource().Resource}
		if action.GetSubresource() != "" {
			c.Resource += "/" + action.GetSubresource()
		}
		if patch, ok := action.(clienttesting.PatchAction); ok && action.GetResource().Resource == "podgroups" {
			c.Object = patch.GetNamespace() + "/" + patch.GetName()
			readPatch(patch.GetPatch(), &c)
			return true, &schedulingv1beta1.PodGroup{}, a.call(c)
		}
		var obj runtime.Object
		if with, ok := action.(interface{ GetObject() runtime.Object }); ok {
			obj = with.GetObject()
			if o, err := meta.Accessor(obj); err == nil {
				c.Object = model.Key(o)
			}
			c.Rest, c.Claim = claimWrite(obj), writtenClaim(obj)
			readVolume(obj, &c)
		}
		if patch, ok := action.(clienttesting.PatchAction); ok {
			c.Object = patch.GetNamespace() + "/" + patch.GetName()
			readClaimPatch(patch.GetPatch(), &c)
		}
		if deletion, ok := action.(clienttesting.DeleteAction); ok {
			c.Object = deletion.GetNamespace() + "/" + deletion.GetName()
		}
		claim, ok := obj.(*resourcev1.ResourceClaim)
		if !ok || c.Verb != "create" {
			return true, obj, a.call(c)
		}
		claim = claim.DeepCopy()
		claim.Name, claim.ResourceVersion = claim.GenerateName+"made", "1"
		claim.UID = types.UID(model.Key(claim))
		c.Object = model.Key(claim)
		if err := a.call(c); err != nil {
			return true, nil, err
		}
		return true, claim, a.make(claim)
	})
	return a
}

// make stores a claim until all are taken away again.
func (a *Server) make(claim *resourcev1.ResourceClaim) error {
	a.mu.Lock()
	a.made = append(a.made, claim)
	a.mu.Unlock()
	return a.Claims.Add(claim)
}

// Unmake takes away the claims that were made. The error tells of those that could not be taken away.
func (a *Server) Unmake() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var errs []error
	for _, claim := range a.made {
		errs = append(errs, a.Claims.Remove(claim))
	}
	a.made = nil
	return errors.Join(errs...)
}

// The writes to a claim's status.
const (
	deallocates = "deallocated"
	allocates   = "allocated"
)

func claimWrite(obj runtime.Object) string {
	claim, ok := obj.(*resourcev1.ResourceClaim)
	switch {
	case !ok:
		return ""
	case claim.Status.Allocation != nil:
		return allocates
	case len(claim.Status.ReservedFor)+len(claim.Status.Devices) > 0:
		return "not allocated, but in use"
	}
	return deallocates
}

// writtenClaim is what is written of a claim; nil if the object is none.
func writtenClaim(obj runtime.Object) *model.WrittenClaim {
	claim, ok := obj.(*resourcev1.ResourceClaim)
	if !ok {
		return nil
	}
	w := &model.WrittenClaim{Special: claim.Annotations[resourcev1.ExtendedResourceClaimAnnotation] == "true"}
	if owner := metav1.GetControllerOfNoCopy(claim); owner != nil {
		w.Pod = string(owner.UID)
	}
	for _, r := range claim.Spec.Devices.Requests {
		if r.Exactly != nil {
			w.Requests = append(w.Requests, model.DeviceRequest{Name: r.Name, Class: r.Exactly.DeviceClassName, Count: r.Exactly.Count})
		}
	}
	if claim.Status.Allocation != nil {
		for _, r := range claim.Status.Allocation.Devices.Results {
			w.Devices = append(w.Devices, model.Device{Request: r.Request, Driver: r.Driver, Pool: r.Pool, Name: r.Device})
		}
	}
	for _, user := range claim.Status.ReservedFor {
		w.ReservedFor = append(w.ReservedFor, string(user.UID))
	}
	return w
}

// readVolume reads what is written to a volume or to its claim, so that the claim gets a volume.
func readVolume(obj runtime.Object, c *model.Call) {
	switch o := obj.(type) {
	case *v1.PersistentVolume:
		c.Object = o.Name
		if ref := o.Spec.ClaimRef; ref != nil {
			c.BoundTo = ref.Namespace + "/" + ref.Name
		}
	case *v1.PersistentVolumeClaim:
		c.SelectedNode = o.Annotations[volume.AnnSelectedNode]
	}
}

func (a *Server) call(c model.Call) error {
	a.Before(&c)
	c.Gated = a.Gated()
	if a.often(c) {
		a.GoesOn(fmt.Sprintf("%s %s of %s, %d times", c.Verb, c.Resource, c.Object, tooOften))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.answer(c)
	if err != nil {
		c.Failed = err.Error()
	}
	a.calls = append(a.calls, c)
	return err
}

// often counts a call, and tells whether it was made too often.
func (a *Server) often(c model.Call) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := target{c.Verb, c.Resource, c.Object}
	a.times[at]++
	return a.times[at] > tooOften
}

// answer is the error that a call meets, if any: the fault, also when the call is
// tried again.
func (a *Server) answer(c model.Call) error {
	if a.Fault == nil {
		return nil
	}
	again := a.failed != nil && a.failed.Verb == c.Verb && a.failed.Resource == c.Resource && a.failed.Object == c.Object
	if len(a.calls) == a.Fault.Call {
		a.failed = &c
	} else if !again || a.Fault.Passing {
		return nil
	}
	kind, _, _ := strings.Cut(c.Resource, "/")
	resource, name := schema.GroupResource{Resource: kind}, c.Object[strings.LastIndex(c.Object, "/")+1:]
	switch a.Fault.Error {
	case reference.NotFound:
		return apierrors.NewNotFound(resource, name)
	case reference.Conflict:
		return apierrors.NewConflict(resource, name, errors.New("the object has been modified"))
	case reference.Timeout:
		return apierrors.NewTimeoutError("the server did not answer in time", 0)
	default:
		return apierrors.NewInternalError(errors.New(string(a.Fault.Error)))
	}
}

// Take returns the calls made so far, in order, and forgets them.
func (a *Server) Take() []model.Call {
	a.mu.Lock()
	defer a.mu.Unlock()
	calls := a.calls
	a.calls, a.failed = nil, nil
	clear(a.times)
	a.ClearActions()
	return calls
}

// CoreV1 intercepts the calls about pods, past the costly fake.
func (a *Server) CoreV1() corev1client.CoreV1Interface { return coreClient{a.Clientset.CoreV1(), a} }

type coreClient struct {
	corev1client.CoreV1Interface
	a *Server
}

func (c coreClient) Pods(namespace string) corev1client.PodInterface {
	return podClient{c.CoreV1Interface.Pods(namespace), namespace, c.a}
}

type podClient struct {
	corev1client.PodInterface
	namespace string
	a         *Server
}

func (p podClient) Delete(_ context.Context, name string, opts metav1.DeleteOptions) error {
	c := model.Call{Verb: "delete", Resource: "pods", Object: p.namespace + "/" + name}
	if opts.GracePeriodSeconds != nil || opts.Preconditions != nil || opts.PropagationPolicy != nil || len(opts.DryRun) > 0 {
		c.Rest = fmt.Sprintf("options %v", opts.String())
	}
	return p.a.call(c)
}

func (p podClient) Bind(_ context.Context, binding *v1.Binding, _ metav1.CreateOptions) error {
	return p.a.call(model.Call{Verb: "bind", Resource: "pods/binding", Object: p.namespace + "/" + binding.Name, Node: binding.Target.Name})
}

func (p podClient) Patch(_ context.Context, name string, kind types.PatchType, data []byte, _ metav1.PatchOptions, subresources ...string) (*v1.Pod, error) {
	c := model.Call{Verb: "patch", Resource: strings.Join(append([]string{"pods"}, subresources...), "/"), Object: p.namespace + "/" + name}
	if kind == types.StrategicMergePatchType && slices.Equal(subresources, []string{"status"}) {
		p.a.readAgain(data, &c)
	} else {
		c.Rest = string(data)
	}
	return &v1.Pod{}, p.a.call(c)
}

// maxRead is how many patches readAgain keeps.
const maxRead = 1000

// readAgain is readPatch, which most patches go through once: those of victims are all alike,
// and those of a preemptor are where a cluster is observed again.
func (a *Server) readAgain(data []byte, c *model.Call) {
	a.mu.Lock()
	defer a.mu.Unlock()
	read, known := a.read[string(data)]
	if !known {
		readPatch(data, &read)
		if len(a.read) == maxRead || a.read == nil {
			a.read = make(map[string]model.Call, maxRead)
		}
		a.read[string(data)] = read
	}
	c.Conditions, c.ExtendedClaim, c.Rest = slices.Clone(read.Conditions), read.ExtendedClaim, read.Rest
	if read.NominatedNode != nil {
		c.NominatedNode = new(*read.NominatedNode)
	}
}

// statusPatch is what the scheduler may say in a strategic merge patch of a pod.
type statusPatch struct {
	Status struct {
		// NominatedNodeName is null, or a name.
		NominatedNodeName json.RawMessage
		Conditions        []struct {
			model.Condition
			LastProbeTime, LastTransitionTime json.RawMessage
			Patch                             string `json:"$patch"`
		}
		Order json.RawMessage `json:"$setElementOrder/conditions"` // goes with Conditions

		ExtendedResourceClaimStatus *v1.PodExtendedResourceClaimStatus
	}
}

// readPatch reads a strategic merge patch of the status of a pod, or of a pod group. What it does not know
// is the call's Rest.
func readPatch(data []byte, c *model.Call) {
	var patch statusPatch
	var node string
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	name := &patch.Status.NominatedNodeName
	if d.Decode(&patch) != nil || *name != nil && json.Unmarshal(*name, &node) != nil {
		c.Rest = string(data)
		return
	}
	if *name != nil {
		c.NominatedNode = &node
	}
	if is := patch.Status.ExtendedResourceClaimStatus; is != nil {
		c.ExtendedClaim = &model.ExtendedClaim{Name: is.ResourceClaimName}
		for _, m := range is.RequestMappings {
			c.ExtendedClaim.Mappings = append(c.ExtendedClaim.Mappings, model.RequestMapping{Container: m.ContainerName, Resource: m.ResourceName, Request: m.RequestName})
		}
	}
	var rest []string
	for _, condition := range patch.Status.Conditions {
		if condition.Patch != "" {
			rest = append(rest, fmt.Sprintf("condition %s: %s", condition.Type, condition.Patch))
			continue
		}
		condition.Transitioned = len(condition.LastTransitionTime) > 0
		c.Conditions = append(c.Conditions, condition.Condition)
	}
	c.Rest = strings.Join(rest, ", ")
}

// readClaimPatch reads a strategic merge patch of the status of a claim, by which a user is taken away. What it does not know is the
// call's Rest.
func readClaimPatch(data []byte, c *model.Call) {
	var patch struct {
		Metadata struct{ UID types.UID }
		Status   struct {
			ReservedFor []struct {
				Patch string `json:"$patch"`
				UID   types.UID
			}
		}
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&patch); err != nil || len(patch.Status.ReservedFor) != 1 || patch.Status.ReservedFor[0].Patch != "delete" {
		c.Rest = string(data)
		return
	}
	c.Unreserved = string(patch.Status.ReservedFor[0].UID)
}

// Actuation sums up what was written to other objects than the preemptors and their groups, and
// what became of the preemptor's own nomination. What it does not know is Other. ofGroup says that they are of a group.
func Actuation(calls []model.Call, isOwn func(key string) bool, ofGroup bool, nomination model.NominationMode, node string) *model.Actuation {
	a := &model.Actuation{Nomination: nomination, NominatedNode: node}
	for i := range calls {
		c, known := &calls[i], true
		if c.Failed != "" {
			continue
		}
		switch {
		case c.Resource == "podgroups/status":
			known = c.Verb == "patch" && c.Rest == ""
		case strings.HasPrefix(c.Resource, "pods") && isOwn(c.Object):
			known = c.Verb == "bind" || c.Verb == "patch" && c.Resource == "pods/status" && c.Rest == "" && c.ExtendedClaim == nil &&
				!slices.ContainsFunc(c.Conditions, func(is model.Condition) bool { return is.Type != string(v1.PodScheduled) })
		case c.Verb == "delete" && c.Resource == "pods" && c.Rest == "":
			a.Deleted = append(a.Deleted, c.Object)
		case c.Verb == "patch" && c.Resource == "pods/status":
			known = c.Rest == ""
			for _, condition := range c.Conditions {
				// A condition that was True already comes without its status: the
				// patch holds differences only.
				if condition.Type == string(v1.DisruptionTarget) && (condition.Status == string(v1.ConditionTrue) || condition.Status == "") {
					a.DisruptionTarget = append(a.DisruptionTarget, c.Object)
				} else {
					known = false
				}
			}
			if c.NominatedNode != nil && *c.NominatedNode == "" {
				a.Cleared = append(a.Cleared, c.Object)
			} else if c.NominatedNode != nil {
				known = false
			}
		case c.Resource == "resourceclaims/status" && c.Rest == deallocates:
			a.Deallocated = append(a.Deallocated, c.Object)
		case strings.HasPrefix(c.Resource, "resourceclaims") && ofGroup:
			known = c.Claim != nil || c.Unreserved != "" // the calls tell what is written for whom
		default:
			known = false
		}
		if !known {
			a.Other = append(a.Other, c.String())
		}
	}
	for _, list := range [][]string{a.Deleted, a.DisruptionTarget, a.Cleared, a.Deallocated, a.Other} {
		slices.Sort(list)
	}
	return a
}

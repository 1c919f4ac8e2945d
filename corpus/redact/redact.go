// Package redact takes out of a cluster what is nobody's business: it replaces all names,
// labels, taints and other text by pseudonyms, the same everywhere, and leaves what
// decisions about preemption depend on. The cluster that is left decides alike.
//
// A pseudonym tells the kind of what it stands for, and its place in the order of all names of
// that kind. Nothing in it is computed from the name.
package redact

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/corpus/prune"
	"github.com/preemptcheck/preemptcheck/model"
)

// redaction is one in progress. While names are noted, writing what it answers changes
// nothing.
type redaction struct {
	*names
	namespace string // of the object that is visited
	// selected are the keys of labels that something selects. Others go.
	selected map[string]bool
	// generated are the claims that are called after a pod and its volume: by namespace/name.
	generated map[string]podVolume
	// byKey are the pods without a UID, which are known by namespace and name.
	byKey map[string]bool
	// addresses are in which ways an address is written, see addressOf.
	addresses map[string][]string
	// wanted are the attributes of devices that a constraint is about, with their domains.
	wanted  map[string]bool
	devices *conditions
	errs    []error
}

type podVolume struct{ pod, volume string }

// Cluster is a redacted copy of a cluster that is pruned (see package prune), and what the
// pseudonyms stand for. An error says what cannot be replaced so that decisions stay alike.
func Cluster(c *model.Cluster) (*model.Cluster, Names, error) {
	out, _ := prune.Cluster(c)
	out.NotGiven = nil
	r := &redaction{names: newNames(), selected: map[string]bool{}, generated: map[string]podVolume{}, byKey: map[string]bool{},
		addresses: map[string][]string{}, wanted: map[string]bool{}, devices: newConditions()}
	objects := out.Objects()
	r.prepare(objects)
	r.all(out, objects) // notes names
	r.settle()
	r.all(out, objects) // replaces them
	r.devices.tell(r, objects)
	if err := errors.Join(r.errs...); err != nil {
		return nil, nil, err
	}
	return out, r.back, nil
}

func (r *redaction) fail(o runtime.Object, format string, args ...any) {
	title := reflect.TypeOf(o).Elem().Name()
	if meta, ok := o.(metav1.Object); ok {
		title += " " + strings.TrimPrefix(model.Key(meta), "/")
	}
	r.errs = append(r.errs, fmt.Errorf("%s: "+format, append([]any{title}, args...)...))
}

// prepare finds what has to be known before names are noted, and leaves out labels and
// attributes that nothing looks at.
func (r *redaction) prepare(objects []runtime.Object) {
	for _, o := range objects {
		prune.Walk(o, r.note)
		if p, ok := o.(*v1.Pod); ok {
			r.preparePod(p)
		}
	}
	r.devices.find(r, objects)
	for _, o := range objects {
		if meta, ok := o.(metav1.Object); ok {
			labels := meta.GetLabels()
			had := len(labels) > 0
			maps.DeleteFunc(labels, func(key, _ string) bool { return !r.selected[key] && !ranks(key) })
			if _, pod := o.(*v1.Pod); len(labels) == 0 && had && pod {
				labels[unselected] = ""
			}
			if len(labels) == 0 {
				meta.SetLabels(nil)
			}
		}
	}
	for _, texts := range r.addresses {
		slices.Sort(texts)
	}
}

// ranks tells whether a label of nodes decides without being selected: where volumes can be
// reached from, and by default how pods are spread.
func ranks(key string) bool {
	return key == v1.LabelHostname || slices.Contains(zoneKeys, key) || slices.Contains(regionKeys, key)
}

// unselected is a label of pods that have none which something selects: of a pod without any,
// the scheduler does not look for budgets (util.go:199@v1.37.1).
const unselected = "preemptcheck/unselected"

func (r *redaction) preparePod(p *v1.Pod) {
	if p.UID == "" {
		r.byKey[model.Key(p)] = true
	}
	for _, v := range p.Spec.Volumes {
		if v.Ephemeral == nil {
			continue
		}
		key, from := p.Namespace+"/"+p.Name+"-"+v.Name, podVolume{p.Name, v.Name}
		if other, twice := r.generated[key]; twice && other != from {
			r.fail(p, "spec.volumes: the claim %s is called after this pod and after %s, which no pseudonyms can be", key, other.pod)
		}
		r.generated[key] = from
	}
	renameContainers(p)
}

// renameContainers calls containers by their places.
func renameContainers(p *v1.Pod) {
	names := map[string]string{}
	for i := range p.Spec.InitContainers {
		c := &p.Spec.InitContainers[i]
		names[c.Name] = fmt.Sprintf("init-%d", i)
		c.Name = names[c.Name]
	}
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		names[c.Name] = fmt.Sprintf("container-%d", i)
		c.Name = names[c.Name]
	}
	s := &p.Status
	for _, list := range [][]v1.ContainerStatus{s.InitContainerStatuses, s.ContainerStatuses} {
		for i := range list {
			if list[i].Name = names[list[i].Name]; list[i].Name == "" {
				list[i].Name = fmt.Sprintf("gone-%d", i)
			}
		}
	}
	if e := s.ExtendedResourceClaimStatus; e != nil {
		for i := range e.RequestMappings {
			e.RequestMappings[i].ContainerName = names[e.RequestMappings[i].ContainerName]
		}
	}
	for i := range s.NodeAllocatableResourceClaimStatuses {
		list := s.NodeAllocatableResourceClaimStatuses[i].Containers
		for j := range list {
			list[j] = names[list[j]]
		}
	}
}

// all visits all objects, and the settings.
func (r *redaction) all(c *model.Cluster, objects []runtime.Object) {
	for _, o := range objects {
		if meta, ok := o.(metav1.Object); ok {
			r.namespace = meta.GetNamespace()
		}
		prune.Walk(o, r.visit)
	}
	r.settings(c)
}

// settings are those of the scheduler in a case.
func (r *redaction) settings(c *model.Cluster) {
	if kind, key, is := strings.Cut(c.PreemptorGroup, "/"); is {
		namespace, name, _ := strings.Cut(key, "/")
		if of := "PodGroup"; kind == "podgroup" {
			c.PreemptorGroup = model.PodGroupKey(r.of(prune.Namespace, namespace), r.of(of, name))
		} else {
			c.PreemptorGroup = model.CompositePodGroupKey(r.of(prune.Namespace, namespace), r.of("CompositePodGroup", name))
		}
	}
	c.Settings = c.Settings.RenameNodes(func(name string) string { return r.of("Node", name) })
	s := &c.Settings
	if s.SecondProfile != nil {
		s.SecondProfile.SchedulerName = r.of(prune.Scheduler, s.SecondProfile.SchedulerName)
	}
	for i := range s.Extenders {
		s.Extenders[i].Name = r.of(extender, s.Extenders[i].Name)
		if preempt := s.Extenders[i].Preempt; preempt != nil {
			preempt.Fails = oneOf(preempt.Fails, []string{string(model.PreemptError), string(model.PreemptUnknownNode), string(model.PreemptUnknownPod)})
		}
		for j, name := range s.Extenders[i].ManagedResources {
			s.Extenders[i].ManagedResources[j] = r.resourceOf(name)
		}
	}
}

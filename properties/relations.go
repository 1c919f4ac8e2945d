package properties

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"math/rand/v2"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference"
)

// relation is a metamorphic relation: a change of the cluster after which the
// outcome has to stand in a known relation to the outcome before. It needs no
// model, only the scheduler's answers to both clusters.
type relation struct {
	name string
	// promise says what has to hold and why; source says by which documentation.
	promise, source string
	// vary changes the cluster; nil if the relation says nothing about it.
	vary func(s *Subject, random *rand.Rand) *variation
	// extenders: it holds with extenders, too. Others say nothing where there are
	// any: what these answer to other nodes, victims or priorities is their affair.
	extenders bool
}

// Relations are the metamorphic relations in a fixed order. Each asks the system
// once more, unless it says nothing about the cluster. What it leaves to choice,
// which node is removed for example, depends on the cluster alone.
func Relations() []Property {
	var properties []Property
	for _, r := range relations() {
		properties = append(properties, Property{Name: r.name, Promise: r.promise, Source: r.source, Check: r.check})
	}
	return properties
}

// Sampled are all properties that a campaign checks of a share of its clusters.
func Sampled() []Property { return append(Relations(), FiltersAlone()) }

// SomeRelations are n of Relations, for a campaign that cannot afford all on
// every cluster. Which ones depends on the cluster alone: the same cluster always
// gets the same, and over many clusters each gets its share.
func SomeRelations(c *model.Cluster, n int) []Property {
	all := Relations()
	chosen := make([]Property, 0, n)
	for _, i := range randomOf(c, "relations").Perm(len(all))[:min(n, len(all))] {
		chosen = append(chosen, all[i])
	}
	return chosen
}

func relations() []relation {
	return []relation{
		renaming, permutingLists, permutingBudgets,
		shiftingPriorities, rankingPriorities, scalingResources,
		addingUselessNode, addingIdleBudget, addingImportantPod, removingUselessNode, duplicatingNode,
		raisingBudget, addingCapacity, splittingBudget, settingStartTimes,
	}
}

func (r relation) check(s *Subject) ([]Finding, error) {
	if s.extended() && !r.extenders {
		return nil, nil
	}
	v := r.vary(s, randomOf(s.Cluster, r.name))
	if v == nil {
		return nil, nil
	}
	after, err := s.System.Observe(s.Context, v.cluster)
	if refusal := (*reference.Refusal)(nil); errors.As(err, &refusal) {
		return nil, nil // the release does not know the change
	}
	if err != nil {
		return nil, err
	}
	return (&comparison{s, v, after}).findings(), nil
}

// randomOf is a source of choices that is the same for equal clusters. It reads
// enough of a cluster to make clusters differ, and no more: this is run often.
func randomOf(c *model.Cluster, purpose string) *rand.Rand {
	h := fnv.New64a()
	write := func(words ...string) {
		for _, w := range words {
			h.Write([]byte(w))
			h.Write([]byte{0})
		}
	}
	number := func(n int64) { h.Write(binary.BigEndian.AppendUint64(nil, uint64(n))) }
	pod := func(p *v1.Pod) {
		write(p.Namespace, p.Name, p.Spec.NodeName, p.Status.NominatedNodeName)
		number(int64(model.Priority(p)))
		number(int64(len(p.Labels)))
		if p.Status.StartTime != nil {
			number(p.Status.StartTime.Unix())
		}
		for i := range p.Spec.Containers {
			number(p.Spec.Containers[i].Resources.Requests.Cpu().MilliValue())
			number(p.Spec.Containers[i].Resources.Requests.Memory().Value())
		}
	}
	write(purpose)
	pod(c.Preemptor)
	for _, n := range c.Nodes {
		write(n.Name)
		number(n.Status.Allocatable.Cpu().MilliValue())
		number(n.Status.Allocatable.Memory().Value())
	}
	for _, p := range c.Pods {
		pod(p)
	}
	for _, b := range c.PodDisruptionBudgets {
		write(b.Namespace, b.Name)
		number(int64(b.Status.DisruptionsAllowed))
	}
	return rand.New(rand.NewPCG(h.Sum64(), 0))
}

// withPods is c with every pod, the preemptor included, replaced by a copy that
// change has changed. The copies are shallow: change has to replace what lies
// behind a pointer, a map or a slice, not to write to it.
func withPods(c *model.Cluster, change func(p *v1.Pod)) *model.Cluster {
	changed := func(p *v1.Pod) *v1.Pod {
		out := *p
		change(&out)
		return &out
	}
	out := *c
	out.Preemptor = changed(c.Preemptor)
	out.Pods = make([]*v1.Pod, len(c.Pods))
	for i, p := range c.Pods {
		out.Pods[i] = changed(p)
	}
	return &out
}

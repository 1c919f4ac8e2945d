package properties

import (
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
)

// Random is a source of choices that is the same for equal clusters.
func Random(c *model.Cluster, purpose string) *rand.Rand {
	return rand.New(rand.NewPCG(Seed(c, purpose), 0))
}

// Seed is that of Random. It reads enough of a cluster to make clusters differ, and
// no more: this is run often.
func Seed(c *model.Cluster, purpose string) uint64 {
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
	if c.Preemptor != nil {
		pod(c.Preemptor)
	}
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
	return h.Sum64()
}

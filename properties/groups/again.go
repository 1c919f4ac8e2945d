package groups

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/configuration"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/model/volume"
	"github.com/preemptcheck/preemptcheck/properties"
)

// PlacedFit: once the victims are gone, each member that was nominated finds its place where it is nominated.
var PlacedFit = properties.Property{
	Name:    "group-placed-fit",
	Of:      properties.OfGroups,
	Promise: "The pods are nominated to their chosen nodes, and can be retried once victims are terminated. The removal of all nominated victims makes the preemptor schedulable.",
	Source:  kepCycle + "; " + kepPreemption,
	Lies:    []string{"a victim too few", "a member is nominated to a full node"},
	Needs:   properties.NeedsRepetition,
	// A member without a place may find one beside units that are given back, before those that have one. And of several
	// with priority 0 or less the nominations count against each other: see the finding own-nominations-count.
	Applies: func(s *properties.Subject) bool {
		if priority(s) <= 0 && len(s.Cluster.Preemptors()) > 1 {
			return false
		}
		return hadCycle(s) && !s.Observation.Group.Ongoing && len(nominatedNow(s)) == len(s.Cluster.Preemptors())
	},
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		nominated := nominatedNow(s)
		after := *s.Cluster
		after.Pods = nil
		for _, p := range s.Cluster.Pods {
			if slices.Contains(s.Observation.Group.Victims, model.Key(p)) {
				continue
			}
			if node := nominated[model.Key(p)]; node != "" {
				p = p.DeepCopy()
				p.Status.NominatedNodeName = node
			}
			after.Pods = append(after.Pods, p)
		}
		o, err := s.System.Observe(s.Context, &after)
		if err != nil {
			return nil, err
		}
		if broken, findings := properties.Breaks(&after, o); broken {
			return findings, nil
		}
		for _, key := range s.Observation.Group.Placed {
			node := nominated[key]
			try := tryOf(o, key, node)
			switch {
			case try.Node == node, excused(s, key, try, node):
				continue
			case goesElsewhere(&after, o, nominated):
				return nil, nil
			}
			why := "it is not tried"
			if v, failed := try.Filters[node]; failed {
				why = v.String()
			} else if try.Node != "" {
				why = "it takes " + try.Node
			}
			return []properties.Finding{properties.FoundOf(model.StageActuate, node, key, fmt.Sprintf("member %s does not fit on %s once the victims are gone: %s", key, node, why))}, nil
		}
		return nil, nil
	},
}

// goesElsewhere tells whether a group within another takes another of its topology domains than its members are nominated to, so that the
// groups after it find what it leaves. Which one is taken is left open: that nominated nodes come first is not promised (KEP-5732, "Respecting
// NominatedNodeName in Placement Selection", is for its beta).
func goesElsewhere(c *model.Cluster, o *model.Observation, nominated map[string]string) bool {
	return slices.ContainsFunc(o.Group.FirstChoices, func(choice model.DomainChoice) bool {
		label := podgroup.TopologyKey(c, choice.Group)
		return choice.Group != c.PreemptorGroup && slices.ContainsFunc(c.Preemptors(), func(p *v1.Pod) bool {
			at := slices.IndexFunc(c.Nodes, func(n *v1.Node) bool { return n.Name == nominated[model.Key(p)] })
			return slices.Contains(c.GroupsOf(p), choice.Group) && at >= 0 && c.Nodes[at].Labels[label] != choice.Domain
		})
	})
}

// tryOf is how a member was tried in the cluster as it is, in the topology domain of a node.
func tryOf(o *model.Observation, key, node string) model.MemberTry {
	for _, try := range o.Group.First {
		if _, failed := try.Filters[node]; try.Pod == key && (try.Domains == nil || failed || try.Node == node) {
			return try
		}
	}
	return model.MemberTry{Pod: key}
}

// excused tells whether a member does not fit by a known finding that is assumed. Why is not shown if it fits elsewhere.
func excused(s *properties.Subject, key string, try model.MemberTry, node string) bool {
	plugin, member := try.Filters[node].Plugin, s.Pod(key)
	switch {
	case s.Assumes("least-of-two-domains") && (plugin == "PodTopologySpread" || plugin == "" && spreads(s, member)),
		s.Assumes("shared-claim-taken-back") && (plugin == "VolumeBinding" || plugin == "") && claimTakenBack(s.Cluster, s.Observation.Group, member),
		s.Assumes("host-ports-forgotten") && (plugin == "NodePorts" || plugin == "" && len(hostPorts(member)) > 0 && portUsedTwice(s.Cluster, node)):
		return true
	}
	return s.Assumes("skipped-plugins-stay-skipped") &&
		(plugin == "InterPodAffinity" || plugin == "VolumeRestrictions" || plugin == "" && slices.ContainsFunc(s.Cluster.Pods, properties.RequiresPods))
}

// claimTakenBack tells whether a claim of the member whose volume is made on demand lost its node: a pod that mounts it, too, was taken back
// after one was placed that stays, and after that a pod that mounts it was placed on another node.
func claimTakenBack(c *model.Cluster, cycle *model.GroupCycle, member *v1.Pod) bool {
	storage := volume.NewIndex(c.Extra)
	mounts := func(key, claim string) bool {
		return slices.ContainsFunc(c.Preemptors(), func(p *v1.Pod) bool {
			return model.Key(p) == key && slices.ContainsFunc(storage.ClaimsOf(p), func(other volume.Claim) bool { return other.Key == claim })
		})
	}
	stays := func(try model.MemberTry) bool {
		at := slices.Index(cycle.Placed, try.Pod)
		return at >= 0 && cycle.PlacedTo[at] == try.Node
	}
	return slices.ContainsFunc(storage.ClaimsOf(member), func(claim volume.Claim) bool {
		node, lost := "", false
		for _, try := range cycle.Second {
			switch {
			case try.Node == "" || !claim.Waits() || !claim.Provisioned() || !mounts(try.Pod, claim.Key):
			case !stays(try):
				lost = lost || node != ""
			case node == "":
				node = try.Node
			case lost && try.Node != node:
				return true
			}
		}
		return false
	})
}

// hostPorts are the host ports that a pod asks for.
func hostPorts(p *v1.Pod) (ports []int32) {
	for _, c := range p.Spec.Containers {
		for _, port := range c.Ports {
			if port.HostPort > 0 {
				ports = append(ports, port.HostPort)
			}
		}
	}
	return ports
}

// portUsedTwice tells whether two pods on a node have one host port, as they cannot.
func portUsedTwice(c *model.Cluster, node string) bool {
	used := map[int32]bool{}
	for _, p := range c.Pods {
		if p.Spec.NodeName != node {
			continue
		}
		for _, port := range hostPorts(p) {
			if used[port] {
				return true
			}
			used[port] = true
		}
	}
	return false
}

// NoWorseThanItsPod: where preemption helps the one pod of a group, it helps the group.
var NoWorseThanItsPod = properties.Property{
	Name:    "group-no-worse-than-its-pod",
	Of:      properties.OfGroups,
	Promise: "The above algorithm is compatible with the current pod-based one: for pod-based preemption, it works identically to the current algorithm. All potential victims of the cluster are removed for a group, those of one node for a pod.",
	Source:  kepPreemption,
	Lies:    []string{"nobody is preempted for the group"},
	Needs:   properties.NeedsRepetition,
	Applies: func(s *properties.Subject) bool {
		return hadCycle(s) && len(s.Cluster.Members()) == 1 && s.Observation.Group.Eligible != nil && s.Observation.Group.Eligible.OK && !s.Observation.Group.Ongoing &&
			s.Observation.CycleError == "" && !s.Extended() && !wantsOthers(s, s.Cluster.Members()[0])
	},
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		if len(s.Observation.Group.Placed) > 0 {
			return nil, nil
		}
		single := *s.Cluster
		member := s.Cluster.Preemptors()[0]
		single.Preemptor, single.PreemptorGroup = member.DeepCopy(), ""
		single.Preemptor.Spec.SchedulingGroup = nil
		single.Pods = slices.DeleteFunc(slices.Clone(single.Pods), func(p *v1.Pod) bool { return p == member })
		o, err := s.System.Observe(s.Context, &single)
		if err != nil {
			return nil, err
		}
		if broken, findings := properties.Breaks(&single, o); broken || o.Pick == nil {
			return findings, nil
		}
		if slices.ContainsFunc(constrained(s.Cluster), func(group string) bool {
			return !slices.ContainsFunc(domains(s.Cluster, group), func(d []string) bool { return slices.Contains(d, o.Pick.Node) })
		}) {
			return nil, nil // the group may not go there
		}
		return properties.Found(model.StageActuate, o.Pick.Node, fmt.Sprintf("preempting %v on %s helps %s as a pod, and nothing the group", o.Pick.Victims, o.Pick.Node, model.Key(member))), nil
	},
}

// wantsOthers tells whether a pod may fit worse the more pods are gone: it is drawn to others, or has to be spread like them. Of
// volumes and devices KEP-5710 says that filters are wrong about them when others are supposed to be gone ("In place victim reprieval").
func wantsOthers(s *properties.Subject, p *v1.Pod) bool {
	return len(p.Spec.Volumes)+len(p.Spec.ResourceClaims) > 0 || spreads(s, p) || p.Spec.Affinity != nil && p.Spec.Affinity.PodAffinity != nil
}

// spreads tells whether a pod has constraints by which it is spread, or may have such by default.
func spreads(s *properties.Subject, p *v1.Pod) bool {
	return len(configuration.Spread(s.Cluster.Settings, p)) > 0
}

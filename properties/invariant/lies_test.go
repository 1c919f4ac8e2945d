package invariant

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
)

type observed = model.Observation

// lies are what a lying scheduler does to break each property, by the names in
// Property.Lies.
var lies = []struct {
	property, name string
	// cluster changes checktest.Cluster.
	cluster func(c *model.Cluster)
	checktest.Liar
}{
	{property: "lower-priority-only", name: "a victim of higher priority", Liar: tells(checktest.Victims("default/high", "default/low"))},
	{property: "victims-on-their-node", name: "a victim on another node", Liar: tells(checktest.Victims("default/other", "default/low"))},
	{property: "victims-were-running", name: "a victim that waits", Liar: tells(checktest.Victims("default/low", "default/waiting"))},
	{property: "victims-were-running", name: "the same victim twice", Liar: tells(checktest.Victims("default/low", "default/low"))},
	{property: "victims-were-running", name: "a victim that does not exist", Liar: tells(checktest.Victims("default/low", "default/nobody"))},
	{property: "groups-go-whole", name: "one pod of a group stays", cluster: together, Liar: tells(func(_ *model.Cluster, o *observed) {
		o.Pick.Victims = o.Pick.Victims[:1]
		o.DryRuns[o.Pick.Node] = model.DryRun{Victims: o.Pick.Victims}
	})},
	{property: "groups-go-whole", name: "one pod of a group is not deleted", cluster: together, Liar: tells(func(_ *model.Cluster, o *observed) {
		o.Actuation.Deleted = o.Actuation.Deleted[:1]
	})},
	{property: "victims-by-importance", name: "the less important victim first", Liar: tells(checktest.Victims("default/low", "default/mid"))},
	{property: "preemptor-fits", name: "too few victims",
		cluster: func(c *model.Cluster) { c.Preemptor = checktest.Pod("p", 10, "2") }, Liar: tells(checktest.Victims("default/low"))},
	{property: "judges-agree", name: "not scheduled once the victims are gone", Liar: tells(func(c *model.Cluster, o *observed) {
		if len(c.Pods) < len(checktest.Cluster().Pods) {
			o.ScheduledTo = ""
		}
	})},
	{property: "no-free-node", name: "a free node is not seen", cluster: func(c *model.Cluster) {
		c.Nodes = append(c.Nodes, mk.Node("free", "2"))
	}, Liar: sees(func(c *model.Cluster) { c.Nodes = c.Nodes[:2] })},
	{property: "never-preempts", name: "the preemption policy is not seen", cluster: func(c *model.Cluster) {
		never := v1.PreemptNever
		c.Preemptor.Spec.PreemptionPolicy = &never
	}, Liar: sees(func(c *model.Cluster) { c.Preemptor.Spec.PreemptionPolicy = nil })},
	{property: "waits-for-its-victims", name: "the nomination is not seen", cluster: awaits, Liar: sees(func(c *model.Cluster) { c.Preemptor.Status.NominatedNodeName = "" })},
	{property: "waits-for-its-victims", name: "it is considered, although nothing comes of it", cluster: awaits, Liar: tells(func(_ *model.Cluster, o *observed) {
		o.Eligible = &model.Eligibility{OK: true}
	})},
	{property: "minimal-victims", name: "one victim too many", Liar: tells(checktest.Victims("default/mid", "default/low"))},
	{property: "no-swap", name: "a more important victim than needed", Liar: tells(checktest.Victims("default/mid"))},
	{property: "violations-recounted", name: "a violation is not counted", cluster: threeVictims, Liar: counts(1)},
	{property: "violations-recounted", name: "a violation is counted twice", cluster: threeVictims, Liar: counts(3)},
	{property: "violations-recounted", name: "of overlapping budgets, one violation less than in the best order", cluster: overlappingBudgets, Liar: counts(0)},
	{property: "violations-recounted", name: "of overlapping budgets, one violation more than in the worst order", cluster: overlappingBudgets, Liar: counts(3)},
	{property: "violations-recounted", name: "the status of an earlier generation counts", cluster: func(c *model.Cluster) {
		c.PodDisruptionBudgets[0].Generation++
	}, Liar: tells(func(_ *model.Cluster, o *observed) {
		o.DryRuns["node-2"] = model.DryRun{Victims: []string{"default/other"}}
	})},
	{property: "no-fewer-violations", name: "the pick violates a budget", Liar: tells(picksOther)},
	{property: "best-candidate", name: "the pick violates a budget", Liar: tells(picksOther)},
	{property: "victims-deleted-and-marked", name: "nobody is deleted", Liar: tells(func(_ *model.Cluster, o *observed) { o.Actuation.Deleted = nil })},
	{property: "victims-deleted-and-marked", name: "nobody is marked", Liar: tells(func(_ *model.Cluster, o *observed) { o.Actuation.DisruptionTarget = nil })},
	{property: "lower-nominations-cleared", name: "no nomination is cleared", Liar: tells(func(_ *model.Cluster, o *observed) { o.Actuation.Cleared = nil })},
	{property: "lower-nominations-cleared", name: "the nomination of another pod is cleared", Liar: tells(func(_ *model.Cluster, o *observed) {
		o.Actuation.Cleared = append(o.Actuation.Cleared, "default/high")
	})},
	{property: "static-pods-stay", name: "a mirror pod is a victim", cluster: func(c *model.Cluster) {
		for _, p := range c.Pods {
			if p.Name == "high" {
				p.Annotations = map[string]string{v1.MirrorPodAnnotationKey: "hash"}
			}
		}
	}, Liar: tells(func(_ *model.Cluster, o *observed) {
		o.DryRuns["node-1"] = model.DryRun{Victims: []string{"default/high"}}
	})},
	{property: "nothing-else-written", name: "an event is created", Liar: tells(func(_ *model.Cluster, o *observed) { o.Actuation.Other = []string{"create an event"} })},
	{property: "nothing-else-written", name: "a victim is deleted without grace", Liar: tells(func(_ *model.Cluster, o *observed) {
		o.Actuation.Other = []string{"delete pods default/low: options gracePeriodSeconds 0"}
	})},
	{property: "nothing-else-written", name: "another condition of the pod is written", Liar: tells(func(_ *model.Cluster, o *observed) {
		o.Actuation.Other = []string{"patch pods/status default/p: condition Ready"}
	})},
	{property: "nothing-else-written", name: "a pod that is no victim is deleted", Liar: tells(func(_ *model.Cluster, o *observed) {
		o.Actuation.Deleted = append(o.Actuation.Deleted, "default/mid")
	})},
	{property: "nothing-else-written", name: "the pod is nominated to another node", Liar: tells(func(_ *model.Cluster, o *observed) { o.Actuation.NominatedNode = "node-2" })},
	{property: "no-internal-error", name: "PostFilter ends in an error", Liar: tells(func(_ *model.Cluster, o *observed) { o.PostFilterCode = "Error" })},
	{property: "no-internal-error", name: "the cycle ends in an error", Liar: tells(func(_ *model.Cluster, o *observed) { o.CycleError = "panic: oops" })},
	{property: "nominated-keep-devices", name: "no device is free where the pod goes", cluster: claimsDevices, Liar: tells(func(_ *model.Cluster, o *observed) {
		o.ScheduledTo = "node-1"
	})},
	{property: "deallocation-spares-pods", name: "two claims are deallocated", Liar: tells(func(_ *model.Cluster, o *observed) {
		o.Actuation.Deallocated = []string{"default/claim", "default/other"}
	})},
	{property: "order-does-not-matter", name: "the order of pods decides who goes", Liar: tells(func(c *model.Cluster, o *observed) {
		if c.Pods[0].Name != "low" {
			checktest.Victims("default/mid")(c, o)
		}
	})},
	{property: "order-does-not-matter", name: "the order of nodes decides the pick", Liar: tells(func(c *model.Cluster, o *observed) {
		if c.Nodes[0].Name != "node-1" {
			picksOther(c, o)
		}
	})},
}

// awaits makes the preemptor of checktest.Cluster wait for a victim of its own.
func awaits(c *model.Cluster) {
	mk.Nominated("node-1")(c.Preemptor)
	now := metav1.Now()
	c.Pods[0].DeletionTimestamp = &now
	c.Pods[0].Status.Conditions = []v1.PodCondition{{Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler}}
}

// claimsDevices gives the preemptor, which fits nowhere, a claim, and no node a device.
func claimsDevices(c *model.Cluster) {
	own := "own"
	c.Preemptor.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "a", ResourceClaimName: &own}}
	c.Preemptor.Spec.NodeSelector = map[string]string{"there": "is none"}
	exactly := resourcev1.ExactDeviceRequest{DeviceClassName: "any", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1}
	c.Extra = append(c.Extra, &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "any"}},
		&resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: own, Namespace: "default"},
			Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: "device", Exactly: &exactly}}}}})
}

func tells(story func(*model.Cluster, *observed)) checktest.Liar { return checktest.Liar{Tell: story} }
func sees(change func(*model.Cluster)) checktest.Liar            { return checktest.Liar{Change: change} }

func picksOther(_ *model.Cluster, o *observed) {
	if o.Pick != nil {
		o.Pick = &model.Pick{Node: "node-2", Victims: []string{"default/other"}, Violations: 1}
	}
}

// threeVictims are all of node-2, of a budget that allows one of them to go: two
// violations.
func threeVictims(c *model.Cluster) {
	c.Preemptor = checktest.Pod("p", 10, "2")
	c.Pods = slices.DeleteFunc(c.Pods, func(p *v1.Pod) bool { return p.Name == "other" })
	for name, cpu := range map[string]string{"x": "1", "y": "500m", "z": "500m"} {
		c.Pods = append(c.Pods, checktest.Pod(name, 3, cpu, mk.On("node-2")))
	}
	slices.SortFunc(c.Pods, func(a, b *v1.Pod) int { return strings.Compare(a.Name, b.Name) })
	c.PodDisruptionBudgets = []*policyv1.PodDisruptionBudget{budgetOf("one", 1, "x", "y", "z")}
}

// overlappingBudgets are of the same pods, of two budgets that have y in common and allow one pod
// each: y violates both, or x and z one each if y goes first.
func overlappingBudgets(c *model.Cluster) {
	threeVictims(c)
	c.PodDisruptionBudgets = []*policyv1.PodDisruptionBudget{budgetOf("one", 1, "x", "y"), budgetOf("two", 1, "y", "z")}
}

func budgetOf(name string, allowed int32, apps ...string) *policyv1.PodDisruptionBudget {
	return mk.Budget(name, allowed, &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: apps}}})
}

// counts tells of so many violations on node-2.
func counts(violations int) checktest.Liar {
	return tells(func(_ *model.Cluster, o *observed) {
		o.DryRuns["node-2"] = model.DryRun{Victims: o.DryRuns["node-2"].Victims, Violations: violations}
	})
}

// For every property there is a lie that breaks it, on a cluster where the truth
// does not.
// together makes pods on two nodes go together.
func together(c *model.Cluster) {
	c.Settings, c.Extra = mk.WithGroups(), append(c.Extra, mk.Group("g", 1, mk.AsAWhole))
	c.PodDisruptionBudgets = nil
	for _, p := range c.Pods {
		if p.Name == "low" || p.Name == "other" {
			mk.Member("g")(p)
		}
	}
}

func TestInvariantsCatchLies(t *testing.T) {
	system := checktest.System(t)
	caught := map[string][]string{}
	for _, lie := range lies {
		t.Run(lie.property+"/"+lie.name, func(t *testing.T) {
			i := slices.IndexFunc(All(), func(p properties.Property) bool { return p.Name == lie.property })
			require.GreaterOrEqual(t, i, 0)
			check := func(system reference.System) []properties.Finding {
				c := checktest.Cluster()
				if lie.cluster != nil {
					lie.cluster(c)
				}
				checker := &properties.Checker{System: system, Properties: []properties.Property{All()[i]}}
				r, err := checker.Check(context.Background(), c)
				require.NoError(t, err)
				return slices.DeleteFunc(r.Findings, func(f properties.Finding) bool { return f.Property == properties.Differential })
			}
			assert.Empty(t, check(system), "the truth")
			lie.System = system
			findings := check(lie.Liar)
			require.NotEmpty(t, findings)
			for _, f := range findings {
				assert.Empty(t, f.Known, "%v", f)
			}
			caught[lie.property] = append(caught[lie.property], lie.name)
		})
	}
	for _, p := range All() {
		assert.NotEmpty(t, p.Lies, "no lie breaks %s", p.Name)
		assert.Equal(t, p.Lies, caught[p.Name], p.Name)
		assert.NotEmpty(t, p.Promise, p.Name)
		assert.NotEmpty(t, p.Source, p.Name)
	}
}

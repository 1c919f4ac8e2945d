package exposure

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
)

func class(name string, value int32, policy v1.PreemptionPolicy) *schedulingv1.PriorityClass {
	return &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value, PreemptionPolicy: &policy}
}

func ofDeployment(name string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		yes := true
		p.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: name + "-1a2b", Controller: &yes}}
		p.Labels = map[string]string{"app": name, "pod-template-hash": "1a2b"}
	}
}

// drawn is a small cluster: pods of a few workloads on a few nodes, some of which are full of pods,
// tainted, or promised to a nominated pod; each workload asks for the same CPU in all its pods.
func drawn(r *rand.Rand) *model.Cluster {
	c := &model.Cluster{PriorityClasses: []*schedulingv1.PriorityClass{
		class("low", 5, v1.PreemptLowerPriority), class("never", 50, v1.PreemptNever), class("high", 100, v1.PreemptLowerPriority)}}
	nodes := 1 + r.IntN(3)
	for i := range nodes {
		c.Nodes = append(c.Nodes, mk.Node(fmt.Sprintf("node-%d", i), fmt.Sprint(2+r.IntN(5)), func(n *v1.Node) {
			n.Status.Allocatable[v1.ResourcePods] = mk.Resources("pods", fmt.Sprint(2+r.IntN(6)))[v1.ResourcePods]
			if r.IntN(4) == 0 {
				n.Spec.Taints = []v1.Taint{{Key: "own", Effect: v1.TaintEffectNoSchedule}}
			}
		}))
	}
	pods := 0
	for i := range 1 + r.IntN(3) {
		app, cpu, priority := fmt.Sprintf("app-%d", i), r.IntN(3), []int32{-5, 0, 10, 60, 100}[r.IntN(5)]
		for range 1 + r.IntN(4) {
			pods++
			c.Pods = append(c.Pods, mk.Pod(fmt.Sprintf("p%02d", pods), priority, mk.CPU(fmt.Sprint(cpu)), ofDeployment(app),
				mk.On(fmt.Sprintf("node-%d", r.IntN(nodes))), mk.Started(r.IntN(3))))
		}
		if r.IntN(3) > 0 {
			c.PodDisruptionBudgets = append(c.PodDisruptionBudgets, mk.Budget(app, int32(r.IntN(3)), mk.ForApp(app)))
		}
	}
	if r.IntN(3) == 0 {
		c.Pods = append(c.Pods, mk.Pod("promised", []int32{5, 100}[r.IntN(2)], mk.CPU("1"), mk.Nominated("node-0")))
	}
	return c
}

// contradiction tells which claim of a report does not hold, by trying each request of CPU on each node.
func contradiction(t *testing.T, c *model.Cluster, r *Report) error {
	type claim struct{ workload, class string }
	most, over := map[claim]int{}, map[string]bool{}
	w := newWorld(c, Options{}.withDefaults())
	for _, pc := range append([]*schedulingv1.PriorityClass{class(NoClass, 0, v1.PreemptLowerPriority), class("system-cluster-critical", 2_000_000_000, v1.PreemptLowerPriority)}, c.PriorityClasses...) {
		if *pc.PreemptionPolicy == v1.PreemptNever {
			continue
		}
		for _, n := range w.nodes {
			for cpu := range int64(8) {
				room := room{free: make([]int64, len(w.resources))}
				room.free[0] = cpu * 1000
				whole := *c
				whole.Preemptor = w.witness(n, Class{Name: pc.Name, Value: pc.Value}, &room, everything)
				set, err := answers.Decide(&whole, answers.Documented())
				require.NoError(t, err)
				for _, choice := range set.Choices() {
					by, protected := map[string]int{}, map[int]int{}
					for _, v := range choice.Outcome.Pods {
						p := w.byKey[v.Key]
						by[w.workloads[p.workload].Name]++
						for _, b := range p.budgets {
							protected[b]++
						}
					}
					for name, n := range by {
						most[claim{name, pc.Name}] = max(most[claim{name, pc.Name}], n)
					}
					for b, n := range protected {
						over[w.budgets[b].name] = over[w.budgets[b].name] || n > int(w.budgets[b].Status.DisruptionsAllowed)
					}
				}
			}
		}
	}
	for _, its := range r.Workloads {
		for _, threat := range its.Threats {
			if threat.Class == "system-node-critical" {
				continue
			}
			k := claim{its.Name, threat.Class}
			if threat.AtOnce != most[k] {
				return fmt.Errorf("%s takes %d of %s, not %d", threat.Class, most[k], its.Name, threat.AtOnce)
			}
			delete(most, k)
		}
		for _, b := range its.Budgets {
			if (b.Verdict == Violated) != over[b.Name] {
				return fmt.Errorf("budget %s is said to be %s", b.Name, b.Verdict)
			}
			delete(over, b.Name)
		}
	}
	for k := range most {
		return fmt.Errorf("class %s is said not to preempt %s", k.class, k.workload)
	}
	for name, is := range over {
		if is {
			return fmt.Errorf("budget %s is forgotten", name)
		}
	}
	return nil
}

// TestClaimsHold: no pod of a class takes more than the report says, each claim is what some pod does,
// and its witness shows it in the whole cluster as well as by itself.
func TestClaimsHold(t *testing.T) {
	took := 0
	for seed := range testsize.Times(500) {
		c := drawn(rand.New(rand.NewPCG(uint64(seed), 1)))
		r, err := Of(t.Context(), c, nil, Options{MaxLosses: -1})
		require.NoError(t, err)
		require.NoError(t, contradiction(t, c, r), "seed %d", seed)
		for _, its := range r.Workloads {
			for _, threat := range its.Threats {
				witness := Witness(c, threat, Options{})
				if witness == nil {
					continue
				}
				took++
				whole := *c
				whole.Preemptor = witness.Preemptor
				for _, asked := range []*model.Cluster{witness, &whole} {
					set, err := answers.Decide(asked, answers.Documented())
					require.NoError(t, err)
					shown := false
					for _, choice := range set.Choices() {
						w := newWorld(c, Options{}.withDefaults())
						for at, pods := range w.byWorkload(choice.Outcome.Pods) {
							shown = shown || w.workloads[at].Name == its.Name && len(pods) == threat.AtOnce
						}
					}
					require.True(t, shown, "seed %d: %s of %s", seed, threat.Class, its.Name)
				}
			}
		}
	}
	require.NotZero(t, took)
}

// TestLiesAreFoundOut: each wrong way to work a report out contradicts some cluster.
func TestLiesAreFoundOut(t *testing.T) {
	for name, lie := range map[string]func(*steps){
		"preemptionPolicy Never is ignored": func(s *steps) { s.preempts = func(*schedulingv1.PriorityClass) bool { return true } },
		"pods of several nodes are counted": func(s *steps) { s.count = func(its *Workload, _ []Pod) int { return its.Pods } },
		"the first budget is forgotten": func(s *steps) {
			protected := s.protected
			s.protected = func(p *pod, b int) bool { return b > 0 && protected(p, b) }
		},
	} {
		found := error(nil)
		for seed := 0; seed < 300 && found == nil; seed++ {
			c := drawn(rand.New(rand.NewPCG(uint64(seed), 1)))
			o := Options{MaxLosses: -1, steps: documented()}
			lie(&o.steps)
			r, err := Of(t.Context(), c, nil, o)
			require.NoError(t, err)
			if found = contradiction(t, c, r); found == nil && hasNever(r) {
				found = errors.New("a class that never preempts is a threat")
			}
		}
		require.Error(t, found, name)
		t.Log(name, ":", found)
	}
}

func hasNever(r *Report) bool {
	for _, w := range r.Workloads {
		for _, threat := range w.Threats {
			if threat.Class == "never" {
				return true
			}
		}
	}
	return false
}

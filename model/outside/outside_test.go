package outside_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/outside"
	"github.com/preemptcheck/preemptcheck/model/release"
)

// victims are those on node n by a reading of a plugin's documents; unmodelled says why there is no answer.
func victims(t *testing.T, plugin string, reading int, c *model.Cluster) (victims []string, unmodelled string) {
	v, err := outside.Of(plugin, nil)
	require.NoError(t, err)
	d, err := answers.Decide(c, v.Readings[reading](release.Release{Minor: 34, Patch: 7}.Rules()))
	if err != nil {
		return nil, err.Error()
	}
	if o, failed := d.Listed("n"); failed == nil && o != nil {
		victims = o.Victims
	}
	return victims, ""
}

// What a class says of a pod of priority 1 decides whether a preemptor of priority 9 may take it.
func TestTolerations(t *testing.T) {
	const minimum, seconds = outside.MinimumPreemptablePriority, outside.TolerationSeconds
	ago := func(d time.Duration) *metav1.Time { return &metav1.Time{Time: time.Now().Add(-d)} }
	for name, c := range map[string]struct {
		annotations map[string]string
		scheduled   *metav1.Time
		taken       []bool // by reading
		unmodelled  string
	}{
		"no policy":                      {nil, ago(time.Hour), []bool{true, true}, ""},
		"for ever":                       {map[string]string{minimum: "10", seconds: "-1"}, ago(9999 * time.Hour), []bool{false, false}, ""},
		"for ever, of a lower minimum":   {map[string]string{minimum: "9", seconds: "-1"}, nil, []bool{true, true}, ""},
		"by default the next value":      {map[string]string{seconds: "-1"}, nil, []bool{true, true}, ""},
		"still":                          {map[string]string{minimum: "10", seconds: "86400"}, ago(time.Hour), []bool{false, false}, ""},
		"no longer":                      {map[string]string{minimum: "10", seconds: "86400"}, ago(30 * time.Hour), []bool{true, true}, ""},
		"about now":                      {map[string]string{minimum: "10", seconds: "86400"}, ago(24 * time.Hour), nil, "what it tolerates ends about now"},
		"by default not at all":          {map[string]string{minimum: "10"}, ago(30 * time.Hour), []bool{true, true}, ""},
		"not at all, since when unknown": {map[string]string{minimum: "10", seconds: "0"}, nil, []bool{false, true}, ""},
		"since when unknown":             {map[string]string{minimum: "10", seconds: "60"}, nil, []bool{false, false}, ""},
		"longer than the clock":          {map[string]string{minimum: "10", seconds: "10000000000"}, ago(time.Hour), []bool{false, false}, ""},
		"no number":                      {map[string]string{minimum: "ten"}, nil, nil, "no document says what an annotation means"},
	} {
		t.Run(name, func(t *testing.T) {
			p := mk.Pod("a", 1, mk.On("n"), mk.CPU("1"))
			p.Spec.PriorityClassName = "class"
			if c.scheduled != nil {
				p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionTrue, LastTransitionTime: *c.scheduled}}
			}
			cluster := mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("n", "1"), p)
			cluster.PriorityClasses = []*schedulingv1.PriorityClass{{ObjectMeta: metav1.ObjectMeta{Name: "class", Annotations: c.annotations}, Value: 1}}
			for reading := range 2 {
				got, why := victims(t, outside.PreemptionToleration, reading, cluster)
				if c.unmodelled != "" {
					require.Contains(t, why, c.unmodelled)
				} else {
					require.Empty(t, why)
					require.Equal(t, c.taken[reading], len(got) == 1, "reading %d", reading)
				}
			}
		})
	}
}

func quotaIn(namespace string, minimum, maximum string) *unstructured.Unstructured {
	spec := map[string]any{"min": map[string]any{"cpu": minimum}}
	if maximum != "" {
		spec["max"] = map[string]any{"cpu": maximum}
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "ElasticQuota",
		"metadata": map[string]any{"name": "quota", "namespace": namespace}, "spec": spec}}
}

// Within its min, a preemptor takes back what others borrow, whatever their priority; beyond, pods of its own namespace. What is left
// of the others is guaranteed, or is not, by the reading.
func TestQuotas(t *testing.T) {
	other := func(name string, priority int32, minute int) *v1.Pod {
		return mk.Pod(name, priority, mk.On("n"), mk.CPU("2"), mk.In("other"), mk.Started(minute))
	}
	for name, c := range map[string]struct {
		own, others *unstructured.Unstructured
		pods        []*v1.Pod
		want        [2][]string // by whether quotas give back all pods
		unmodelled  string
	}{
		"a borrower":          {quotaIn("default", "2", ""), quotaIn("other", "2", ""), []*v1.Pod{other("a", 99, 0), other("b", 5, 1)}, [2][]string{{"other/b"}, {"other/b"}}, ""},
		"no borrower":         {quotaIn("default", "2", ""), quotaIn("other", "4", ""), []*v1.Pod{other("a", 1, 0), other("b", 5, 1)}, [2][]string{}, ""},
		"two equal borrowers": {quotaIn("default", "2", ""), quotaIn("other", "2", ""), []*v1.Pod{other("a", 1, 0), other("b", 1, 0)}, [2][]string{}, "which of equally important pods"},
		"beyond its min": {quotaIn("default", "1", ""), quotaIn("other", "3", ""), []*v1.Pod{other("a", 1, 0), mk.Pod("b", 1, mk.On("n"), mk.CPU("2"))},
			[2][]string{{"default/b"}, {"default/b"}}, ""},
		"without a quota": {quotaIn("third", "1", ""), quotaIn("other", "3", ""), []*v1.Pod{other("a", 1, 0), mk.Pod("b", 1, mk.On("n"), mk.CPU("2"))},
			[2][]string{{"default/b"}, {"default/b"}}, ""},
		"over its max": {quotaIn("default", "8", "1"), quotaIn("other", "3", ""), []*v1.Pod{other("a", 1, 0)}, [2][]string{}, ""},
		"two quotas":   {quotaIn("other", "8", "1"), quotaIn("other", "3", ""), []*v1.Pod{other("a", 1, 0)}, [2][]string{}, "a namespace has one"},
	} {
		t.Run(name, func(t *testing.T) {
			objects := []any{mk.Node("n", "4"), c.own, c.others}
			for _, p := range c.pods {
				objects = append(objects, p)
			}
			cluster := mk.Cluster(mk.Pod("p", 9, mk.CPU("2")), objects...)
			for reading := range 2 {
				got, why := victims(t, outside.CapacityScheduling, reading, cluster)
				if c.unmodelled != "" && reading == 0 {
					require.Contains(t, why, c.unmodelled)
				} else if c.unmodelled == "" {
					require.Empty(t, why)
					require.Equal(t, c.want[reading], got, "reading %d", reading)
				}
			}
		})
	}
}

package exposure

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/internal/workload"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
)

// askPending decides about the pending pods, each by itself in the cluster as it is. Of pods that
// are alike, one is decided. Those of the highest priority come first.
func (w *world) askPending(ctx context.Context, r *Report, pending []*model.Cluster) error {
	kinds := map[string][]*model.Cluster{}
	var order []string
	groups := 0
	for _, c := range pending {
		if c.Preemptor == nil {
			groups++
			continue
		}
		r.Pending.Pods++
		key := likeness(c.Preemptor)
		if kinds[key] == nil {
			order = append(order, key)
		}
		kinds[key] = append(kinds[key], c)
	}
	if groups > 0 {
		r.note("%s pending as a whole: not asked about; explain tells of each", words.Plural(groups, "pod group"))
	}
	first := func(key string) *v1.Pod { return kinds[key][0].Preemptor }
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(model.Priority(first(b)), model.Priority(first(a))) })
	most := w.options.MaxPending
	if most < 0 {
		return nil // nobody wants to know
	}
	if len(order) > most {
		left := 0
		for _, key := range order[most:] {
			left += len(kinds[key])
		}
		r.note("%s pending, of the lowest priorities: %d kinds of pods were asked about", words.Plural(left, "pod"), most)
		order = order[:most]
	}
	unmodelled, example := 0, ""
	for i, key := range order {
		if err := ctx.Err(); err != nil {
			return err
		}
		w.options.Progress(0.3 + 0.3*float64(i)/float64(len(order)))
		alike := kinds[key]
		r.Pending.Kinds++
		r.Pending.Decided += len(alike)
		set, err := answers.Decide(alike[0], w.options.Rules)
		if err != nil {
			unmodelled += len(alike)
			example = cmp.Or(example, model.Key(alike[0].Preemptor)+": "+words.FirstLine(err.Error()))
			continue
		}
		ways := w.waysOf(set)
		if len(ways) > 0 {
			r.Pending.Preempt += len(alike)
		}
		w.take(alike, ways, likelihoods(set, ways))
	}
	if unmodelled > 0 {
		r.note("%s pending not decided, for example %s", words.Plural(unmodelled, "pod"), example)
	}
	return nil
}

// take notes whose pods the answers for a pending pod take.
func (w *world) take(alike []*model.Cluster, ways []way, likely []float64) {
	taken, in := map[int]*Taker{}, map[int]int{}
	for i, way := range ways {
		for at, ours := range way.victims {
			in[at]++
			t := taken[at]
			if t == nil {
				p := alike[0].Preemptor
				t = &Taker{Pod: model.Key(p), Alike: len(alike) - 1, Workload: workload.Of(p).Path()}
				taken[at] = t
			}
			t.Expected += likely[i] * float64(len(ours))
			if len(ours) > t.AtOnce {
				t.AtOnce, t.Node = len(ours), way.node
			}
		}
	}
	for at, t := range taken {
		t.Expected = math.Round(t.Expected*1000) / 1000
		t.Certain = in[at] == len(ways)
		w.workloads[at].Now = append(w.workloads[at].Now, *t)
	}
}

// likeness is the same of pods about which the scheduler decides alike: it holds all that
// differs between pods but names and what they have for themselves.
func likeness(p *v1.Pod) string {
	spec := p.Spec.DeepCopy()
	spec.Hostname = ""
	// The API server's own volumes have names that are drawn.
	spec.Volumes = slices.DeleteFunc(spec.Volumes, func(v v1.Volume) bool {
		return v.Projected != nil || v.ConfigMap != nil || v.Secret != nil || v.DownwardAPI != nil || v.EmptyDir != nil || v.HostPath != nil
	})
	for _, containers := range [][]v1.Container{spec.Containers, spec.InitContainers} {
		for i := range containers {
			containers[i].VolumeMounts, containers[i].Env = nil, nil
		}
	}
	labels := map[string]string{}
	for name, value := range p.Labels {
		// Such as statefulset.kubernetes.io/pod-name, apps.kubernetes.io/pod-index.
		if !strings.HasSuffix(value, p.Name) && !strings.HasSuffix(name, "-index") {
			labels[name] = value
		}
	}
	key, err := json.Marshal([]any{p.Namespace, workload.Of(p), spec, labels, p.Status.NominatedNodeName, p.Status.ResourceClaimStatuses})
	if err != nil {
		return model.Key(p)
	}
	return string(key)
}

package outside

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/preemptcheck/preemptcheck/model"
)

// Adorn gives a generated cluster some of the objects of the file, each in one of two clusters, and some of its pods
// labels. A PriorityClass gets the value of some pod's priority, and the pods of that priority name it; one in four is deleted then. It is the same
// for the same seed.
func (f *File) Adorn(c *model.Cluster, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 0xad0))
	pods := slices.Clone(c.Pods)
	if c.Preemptor != nil {
		pods = append(pods, c.Preemptor)
	}
	for _, key := range slices.Sorted(maps.Keys(f.PodLabels)) {
		values := f.PodLabels[key]
		for _, p := range pods {
			if n := random.IntN(len(values) + 1); n < len(values) {
				metav1.SetMetaDataLabel(&p.ObjectMeta, key, values[n])
			}
		}
	}
	for _, data := range f.Objects {
		if random.IntN(2) == 0 {
			continue
		}
		u := &unstructured.Unstructured{}
		if err := utiljson.Unmarshal(data, &u.Object); err != nil {
			return err
		}
		if u.GroupVersionKind() != schedulingv1.SchemeGroupVersion.WithKind("PriorityClass") {
			c.Extra = append(c.Extra, u)
			continue
		}
		class := &schedulingv1.PriorityClass{}
		if err := json.Unmarshal(data, class); err != nil {
			return fmt.Errorf("PriorityClass %s: %w", u.GetName(), err)
		}
		if unnamed := slices.DeleteFunc(slices.Clone(pods), named); len(unnamed) > 0 {
			class.Value = model.Priority(unnamed[random.IntN(len(unnamed))])
			for _, p := range unnamed {
				if model.Priority(p) == class.Value {
					p.Spec.PriorityClassName = class.Name
					p.Spec.Priority = &class.Value
				}
			}
			if random.IntN(4) > 0 { // else it was deleted: its pods remain
				c.PriorityClasses = append(c.PriorityClasses, class)
			}
		}
	}
	return nil
}

func named(p *v1.Pod) bool { return p.Spec.PriorityClassName != "" }

package outside

import (
	"encoding/json"
	"math"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// amounts are in units, and milliCPU, by resource.
type amounts map[v1.ResourceName]int64

func (a amounts) plus(b amounts, sign int64) amounts {
	sum := amounts{}
	for name, n := range a {
		sum[name] = n
	}
	for name, n := range b {
		sum[name] += sign * n
	}
	return sum
}

// tooMuch is from when on sums are not modelled: they would not do in 64 bits.
const tooMuch = math.MaxInt64 >> 20

// quota is the ElasticQuota of a namespace. Max is infinite by default, and min is 0 (KEP-9, "Proposal"), of "each named resource" (API
// documentation of ElasticQuotaSpec).
type quota struct {
	min, max amounts
	limits   bool // there is a max, maybe of nothing
}

// quotaOf reads an object; nil if it is no ElasticQuota.
func quotaOf(o runtime.Object) (namespace string, q *quota, err error) {
	u, ok := o.(*unstructured.Unstructured)
	if !ok || u.GetKind() != "ElasticQuota" || u.GroupVersionKind().Group != "scheduling.x-k8s.io" {
		return "", nil, nil
	}
	var read struct {
		Spec struct{ Min, Max v1.ResourceList }
	}
	data, err := json.Marshal(u.Object)
	if err == nil {
		err = json.Unmarshal(data, &read)
	}
	return u.GetNamespace(), &quota{amountsOf(read.Spec.Min), amountsOf(read.Spec.Max), read.Spec.Max != nil}, err
}

func amountsOf(list v1.ResourceList) amounts {
	return counted(filter.Requested(&v1.Pod{Spec: v1.PodSpec{Overhead: list}}))
}

// counted are resources that the scheduler keeps account of.
func counted(rs filter.Resources) amounts {
	a := amounts{}
	for _, r := range rs {
		if n := r.Units(); filter.IsScheduled(r.Name) {
			a[r.Name] = min(n, 256*tooMuch) // sums do not wrap around
		}
	}
	return a
}

// over tells whether used is more than the limit of some resource. A resource that the limit does not name has the limit unnamed.
func over(used, limit amounts, unnamed func(v1.ResourceName) int64) bool {
	for name, n := range used {
		most, named := limit[name]
		if !named {
			most = unnamed(name)
		}
		if n > most {
			return true
		}
	}
	return false
}

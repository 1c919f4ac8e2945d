package filter

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Quantity is an exact non-negative amount: whole units and thousandths of one.
type Quantity struct{ whole, milli int64 }

func (a Quantity) plus(b Quantity) Quantity {
	sum := Quantity{a.whole + b.whole, a.milli + b.milli}
	if sum.milli >= 1000 {
		sum.whole, sum.milli = sum.whole+1, sum.milli-1000
	}
	return sum
}

func (a Quantity) less(b Quantity) bool {
	return a.whole < b.whole || a.whole == b.whole && a.milli < b.milli
}

// RoundedUp is how the scheduler reads an amount: in whole units, rounded up.
func (a Quantity) RoundedUp() int64 {
	if a.milli > 0 {
		return a.whole + 1
	}
	return a.whole
}

// Amount is a quantity of a named resource. CPU counts in milliCPU.
type Amount struct {
	Name v1.ResourceName
	Quantity
}

func amountOf(name v1.ResourceName, q resource.Quantity) Amount {
	if name == v1.ResourceCPU {
		return Amount{name, Quantity{whole: q.MilliValue()}}
	}
	if whole, exact := q.AsInt64(); exact {
		return Amount{name, Quantity{whole: whole}}
	}
	m := q.MilliValue()
	return Amount{name, Quantity{m / 1000, m % 1000}}
}

// Resources are amounts, one per name, in no particular order.
type Resources []Amount

func resourcesOf(list v1.ResourceList) Resources {
	rs := make(Resources, 0, len(list))
	for name, q := range list {
		rs = append(rs, amountOf(name, q))
	}
	return rs
}

// Get is the amount of the resource with that name, zero if there is none.
func (rs Resources) Get(name v1.ResourceName) Quantity {
	for _, a := range rs {
		if a.Name == name {
			return a.Quantity
		}
	}
	return Quantity{}
}

// merge combines both lists name by name. It may reuse rs.
func (rs Resources) merge(other Resources, combine func(a, b Quantity) Quantity) Resources {
	if len(rs) == 0 {
		return slices.Clone(other)
	}
	for _, o := range other {
		if i := slices.IndexFunc(rs, func(a Amount) bool { return a.Name == o.Name }); i >= 0 {
			rs[i].Quantity = combine(rs[i].Quantity, o.Quantity)
		} else {
			rs = append(rs, o)
		}
	}
	return rs
}

func (rs Resources) add(other Resources) Resources { return rs.merge(other, Quantity.plus) }

func (rs Resources) max(other Resources) Resources {
	return rs.merge(other, func(a, b Quantity) Quantity {
		if a.less(b) {
			return b
		}
		return a
	})
}

// equal treats a missing name as an amount of zero.
func (rs Resources) equal(other Resources) bool {
	differs := func(list Resources) func(Amount) bool {
		return func(a Amount) bool { return list.Get(a.Name) != a.Quantity }
	}
	return !slices.ContainsFunc(rs, differs(other)) && !slices.ContainsFunc(other, differs(rs))
}

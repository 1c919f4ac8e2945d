package filter

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"gopkg.in/inf.v0"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Quantity is an exact non-negative amount, in thousandths. One that an object names
// is at most 2^63-1 units, so that 128 bits hold every sum.
type Quantity struct{ high, low uint64 }

// Whole is an amount of whole units.
func Whole(units uint64) Quantity {
	high, low := bits.Mul64(units, 1000)
	return Quantity{high, low}
}

func (a Quantity) plus(b Quantity) Quantity {
	low, carry := bits.Add64(a.low, b.low, 0)
	return Quantity{a.high + b.high + carry, low}
}

func (a Quantity) less(b Quantity) bool {
	return a.high < b.high || a.high == b.high && a.low < b.low
}

// RoundedUp is how the scheduler reads an amount: in whole units, rounded up.
func (a Quantity) RoundedUp() Quantity {
	if over := bits.Rem64(a.high, a.low, 1000); over > 0 {
		return a.plus(Quantity{low: 1000 - over})
	}
	return a
}

// Units is the amount in whole units, rounded up; math.MaxInt64 stands for all that is larger.
func (a Quantity) Units() int64 {
	a = a.RoundedUp()
	if a.high >= 1000 {
		return math.MaxInt64
	}
	units, _ := bits.Div64(a.high, a.low, 1000)
	return int64(min(units, math.MaxInt64))
}

// Amount is a quantity of a named resource. CPU counts in milliCPU.
type Amount struct {
	Name v1.ResourceName
	Quantity
}

// amountOf reads a quantity: "No quantity may represent a number greater than 2^63-1
// in magnitude, nor may it have more than 3 decimal places. Numbers larger or more
// precise will be capped or rounded up." (apimachinery/pkg/api/resource/quantity.go:62@v0.37.1,
// Quantity). ParseQuantity itself caps just those with a binary suffix.
func amountOf(name v1.ResourceName, q resource.Quantity) Amount {
	thousandths := Quantity{}
	switch {
	case q.CmpInt64(resource.MaxMilliValue) <= 0:
		thousandths.low = uint64(q.MilliValue())
	case q.CmpInt64(math.MaxInt64) >= 0:
		thousandths = Whole(math.MaxInt64)
	default:
		var exact [16]byte
		new(inf.Dec).Round(q.AsDec(), 3, inf.RoundUp).UnscaledBig().FillBytes(exact[:])
		thousandths = Quantity{binary.BigEndian.Uint64(exact[:8]), binary.BigEndian.Uint64(exact[8:])}
	}
	if name == v1.ResourceCPU { // thousandths of milliCPU
		high, low := bits.Mul64(thousandths.low, 1000)
		thousandths = Quantity{thousandths.high*1000 + high, low}
	}
	return Amount{name, thousandths}
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

package observation

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// filled is a value in which nothing is zero.
func filled(t *testing.T, of reflect.Type) reflect.Value {
	v := reflect.New(of).Elem()
	switch of.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Pointer:
		v.Set(reflect.New(of.Elem()))
		v.Elem().Set(filled(t, of.Elem()))
	case reflect.Slice:
		v.Set(reflect.Append(v, filled(t, of.Elem())))
	case reflect.Map:
		v.Set(reflect.MakeMap(of))
		v.SetMapIndex(filled(t, of.Key()), filled(t, of.Elem()))
	case reflect.Struct:
		for i := range of.NumField() {
			v.Field(i).Set(filled(t, of.Field(i).Type))
		}
	default:
		t.Fatalf("a value of kind %s", of.Kind())
	}
	return v
}

// with is a T of which only one field is not zero.
func with[T any](t *testing.T, field reflect.StructField) *T {
	var out T
	reflect.ValueOf(&out).Elem().FieldByIndex(field.Index).Set(filled(t, field.Type))
	return &out
}

// fields are those of a struct, by name.
func fields[T any]() map[string]reflect.StructField {
	all := map[string]reflect.StructField{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		all[f.Name] = f
	}
	return all
}

// Each field of an observation is told as it comes, or is known to be no part of what is told.
func TestEachFieldIsTold(t *testing.T) {
	untold := map[string]string{
		"System":            "who is asked knows it",
		"Actuation":         "it sums up the calls at the end",
		"Crash":             "it is why nothing more is told",
		"PinnedBudgetOrder": "nothing that is seen",
		"PinnedDryRuns":     "nothing that is seen",
		"PostFilterMessage": "it comes with PostFilterCode",
	}
	all := fields[Observation]()
	for name := range untold {
		require.Contains(t, all, name)
	}
	for name, field := range all {
		part, o := with[Observation](t, field), &Observation{}
		if name == "PostFilterCode" {
			part.PostFilterMessage = "why"
		}
		if name == "Aftermath" {
			part.Aftermath = &Aftermath{Calls: part.Aftermath.Calls} // TestEachFieldOfTheAftermathIsTold
		}
		o.Add(part)
		if untold[name] != "" {
			assert.Equal(t, &Observation{}, o, name)
		} else {
			assert.Equal(t, part, o, "%s is not told, or is not told alone", name)
		}
	}
}

// Of what a cycle leaves behind the calls are told as they come. All else is found out when it is over.
func TestEachFieldOfTheAftermathIsTold(t *testing.T) {
	atTheEnd := []string{"Events", "Queue", "NeverPopped", "InFlight", "Gated", "UnschedulablePlugins", "PendingPlugins", "AnsweredPending", "Activated", "NominatedTo", "Metrics",
		"Ways", "Signed", "Twin", "Hint", "Best", "Held"}
	all := fields[Aftermath]()
	for _, name := range atTheEnd {
		require.Contains(t, all, name)
		delete(all, name)
	}
	for name, field := range all {
		part, o := &Observation{Aftermath: with[Aftermath](t, field)}, &Observation{}
		o.Add(part)
		assert.Equal(t, part, o, "%s is not told", name)
	}
	require.Contains(t, all, "Calls")
}

// What is seen up to now is all that is told, and does not change with what comes later.
func TestSeenIsACopy(t *testing.T) {
	of := func() *Observation {
		o := filled(t, reflect.TypeFor[Observation]()).Addr().Interface().(*Observation)
		o.Actuation, o.Crash, o.PinnedBudgetOrder, o.PinnedDryRuns, o.Aftermath = nil, nil, false, false, &Aftermath{Calls: o.Aftermath.Calls}
		return o
	}
	o, want := of(), of()
	seen := o.Seen()
	require.Equal(t, want, seen)

	o.SetFilter("y", Verdict{})
	o.SetDryRun("y", DryRun{})
	o.AddCall(Call{})
	o.AfterExtenders["y"] = DryRun{}
	assert.Equal(t, want, seen)

	// Of a group's cycle: each list and map grows, and the last try changes.
	g := reflect.ValueOf(o.Group).Elem()
	for name, field := range fields[GroupCycle]() {
		switch v := g.FieldByIndex(field.Index); field.Type.Kind() {
		case reflect.Slice:
			v.Index(0).SetZero()
		case reflect.Map:
			v.Clear()
		case reflect.String, reflect.Bool, reflect.Int:
			v.SetZero()
		case reflect.Pointer: // it is set once
		default:
			t.Errorf("%s is of kind %s", name, field.Type.Kind())
		}
	}
	assert.Equal(t, want, seen)
	inner, again := of(), of()
	seen = inner.Seen()
	inner.Group.Tried[0].Pods[0] = "y"
	assert.Equal(t, again, seen)
}

// An observation goes from process to process as JSON, and nothing of it is lost.
func TestJSONLosesNothing(t *testing.T) {
	want := filled(t, reflect.TypeFor[Observation]()).Addr().Interface().(*Observation)
	data, err := json.Marshal(want)
	require.NoError(t, err)
	got := &Observation{}
	require.NoError(t, json.Unmarshal(data, got))
	assert.Equal(t, want, got)
}

package redact_test

import (
	"bytes"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/manifest"
	"github.com/preemptcheck/preemptcheck/corpus/redact"
	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
)

// dumped is a cluster written as a dump, and read.
func dumped(t *testing.T, c *model.Cluster) *model.Cluster {
	var b bytes.Buffer
	require.NoError(t, corpus.WriteDump(manifest.NewFastWriter(&b), c, corpus.AboutDump{Redacted: true}))
	text := b.String()
	s, err := corpus.Read(&b, "redacted")
	require.NoError(t, err, text)
	return s.Dump
}

// twice redacts a dump, and what comes out again: pseudonyms stay as they are.
func twice(t *testing.T, c *model.Cluster) {
	once, _, err := redact.Cluster(c)
	require.NoError(t, err)
	again, _, err := redact.Cluster(dumped(t, once))
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(dumped(t, once), dumped(t, again), cmpopts.EquateEmpty()))
}

func asDump(c *model.Cluster) *model.Cluster {
	out := *c
	if c.Preemptor != nil {
		out.Pods = append([]*v1.Pod{c.Preemptor}, c.Pods...)
		out.Preemptor = nil
	}
	out.PreemptorGroup = ""
	out.Settings = model.Settings{}
	return &out
}

func TestRedactedTwice(t *testing.T) {
	s, err := corpus.Load("../cases")
	require.NoError(t, err)
	for _, c := range s.Cases {
		t.Run(c.Name, func(t *testing.T) { twice(t, asDump(c.Cluster)) })
	}
	for seed := range uint64(testsize.Times(100)) {
		twice(t, asDump(generators.OfAnyPreemptor(seed, nil)))
	}
}

// Dumps are redacted as cases are.
func TestDumpsAreRedacted(t *testing.T) {
	files, err := filepath.Glob("../testdata/*dump*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		s, err := corpus.Load(file)
		require.NoError(t, err)
		twice(t, s.Dump)
	}
}

// FuzzRedact puts any text somewhere in a generated cluster. If that is still one that an API server
// admits, so is what is left of it once it is redacted; and redacting never panics.
func FuzzRedact(f *testing.F) {
	for i, text := range []string{"", "a", "A", "0", "-1", "007", "x/y", "a__b", "a-b-c", "::1", "1.2.3.4", "hugepages-2Mi", "requests.cpu", "kubernetes.io/x", "Gt", "50%", "default",
		"aws://a/vol-1", "\x00", "a.b/c", "device.driver == \"x\"", "true"} {
		f.Add(uint64(i), uint32(7*i), text)
	}
	f.Fuzz(func(t *testing.T, seed uint64, at uint32, text string) {
		c := asDump(generators.OfAnyPreemptor(seed, nil)).DeepCopy()
		var fields []reflect.Value
		for _, o := range c.Objects() {
			fields = texts(reflect.ValueOf(o).Elem(), fields)
		}
		fields[int(at)%len(fields)].SetString(text)
		out, _, err := redact.Cluster(c)
		if err != nil || apiserver.Objects(c.DeepCopy()) != nil {
			return // it tells what it cannot redact; or no API server has such a cluster
		}
		again := dumped(t, out)
		require.Len(t, again.Pods, len(c.Pods))
		require.Len(t, again.Nodes, len(c.Nodes))
	})
}

// texts are all fields with text that are there.
func texts(v reflect.Value, fields []reflect.Value) []reflect.Value {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			fields = append(fields, v)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			fields = texts(v.Elem(), fields)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "TypeMeta" {
				fields = texts(v.Field(i), fields)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			fields = texts(v.Index(i), fields)
		}
	}
	return fields
}

package main

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/modelsystem"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference"
)

// asModelled has releases run as their models have them, with ties broken by chance.
func asModelled(t *testing.T, change func(*modelsystem.System), names ...string) {
	for _, name := range names {
		release, err := model.ParseRelease(name)
		require.NoError(t, err)
		old, known := runnable[name]
		runnable[name] = func() reference.System {
			s := modelsystem.New(release)
			s.Draw = rand.IntN
			if change != nil {
				change(s)
			}
			return s
		}
		t.Cleanup(func() {
			delete(runnable, name)
			if known {
				runnable[name] = old
			}
		})
	}
}

// TestDiff holds the output against golden files.
func TestDiff(t *testing.T) {
	emptyCache(t)
	asModelled(t, nil, "v1.31.0", "v1.31.14", "v1.32.13", "v1.34.4", "v1.35.4")
	for _, test := range []struct {
		name   string
		status int
		args   string
	}{
		{"diff-dump", 1, "--from v1.31.0 --to v1.31.14 testdata/diff/dump.yaml"},
		{"diff-dump-json", 1, "--from v1.31.0 --to v1.31.14 testdata/diff/dump.yaml -o json"},
		{"diff-dump-alike", 2, "--from v1.31.14 --to v1.32.13 testdata/diff/dump.yaml"},
		{"diff-pod-alike", 0, "--from v1.31.14 --to v1.32.13 testdata/diff/dump.yaml --pod shop/web"},
		{"diff-generated", 1, "--from v1.34.4 --to v1.35.4 --cases 600 --seed 1"},
		{"diff-markdown", 1, "--from v1.31.0 --to v1.32.13 --each --cases 300 --seed 1 -o markdown"},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, out, errOut := preemptcheck(t, "", append([]string{"diff"}, strings.Fields(test.args)...)...)
			require.Equal(t, test.status, status, "exit status; %s", errOut)
			golden(t, test.name, out)
		})
	}
}

package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus/replay"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
	"github.com/preemptcheck/preemptcheck/reference/releases"
)

func TestMatrix(t *testing.T) {
	args := []string{"check", "--reference", "careless," + inprocess.Version, "testdata/cases/preempts.yaml", "testdata/cases/order-matters.yaml", "testdata/cases/known.yaml"}
	status, out, errOut := preemptcheck(t, "", args...)
	require.Equal(t, statusFound, status, errOut)
	compare(t, "matrix", out)

	status, out, _ = preemptcheck(t, "", append(args, "-o", "json")...)
	require.Equal(t, statusFound, status)
	var m replay.Matrix
	require.NoError(t, json.Unmarshal([]byte(out), &m))
	require.Equal(t, []string{"careless", inprocess.Version}, m.References)
	require.Len(t, m.Cases, 3)
	require.Equal(t, replay.Found, m.Cases[0].Judgements[0].Result)
	require.Equal(t, replay.Agrees, m.Cases[0].Judgements[1].Result)
}

func TestReferences(t *testing.T) {
	require.Equal(t, []string{"v1.31.0"}, references("v1.31.0"))
	require.Equal(t, []string{"v1.31.0", "v1.16.15"}, references("v1.31.0,v1.16.15"))
	require.Equal(t, releases.All(), references("all"), "the oldest first, and the one linked in")
}

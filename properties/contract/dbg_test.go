package contract_test

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/contract"
	"github.com/preemptcheck/preemptcheck/reference/systems"
)

func TestMin(t *testing.T) {
	system, err := systems.NewPool("v1.37.1", 1)
	require.NoError(t, err)
	defer system.Close()
	for _, spec := range strings.Split(os.Getenv("SPECS"), ";") {
		parts := strings.SplitN(spec, "|", 3)
		seed, _ := strconv.ParseUint(parts[0], 10, 64)
		c := generators.OfAnyPreemptor(seed, nil)
		checker := &properties.Checker{System: system, Properties: append(contract.All(), contract.Monotone())}
		want := fingerprint.OfFinding(&properties.Finding{Property: parts[1], Stage: "filter", Kind: parts[2]})
		ctx, cancel := context.WithTimeout(context.Background(), 25*time.Second)
		small, err := minimize.Minimise(ctx, checker, c, want, minimize.Options{})
		cancel()
		if err != nil {
			t.Log(spec, err)
			continue
		}
		x := &corpus.Case{Name: "x", Description: small.Finding.Detail, Cluster: small.Cluster}
		text := &strings.Builder{}
		require.NoError(t, x.Write(text))
		require.NoError(t, os.WriteFile("/tmp/min/"+strings.NewReplacer(" ", "_", ":", "", ",", "").Replace(parts[0]+"_"+parts[2])+".yaml", []byte(text.String()), 0o644))
	}
}

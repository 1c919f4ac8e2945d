package releasediff_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/modelsystem"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties/releasediff"
)

var update = flag.Bool("update", false, "search for a cluster for each change that has none in testdata")

// changeFile is where the cluster of a change is kept.
func changeFile(from, to release.Release, c releasediff.Change) string {
	name := regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(key(from, to, c)), "-")
	return filepath.Join("testdata", "changes", name[:min(len(name), 100)]+".yaml")
}

// TestEachChange: each change between neighbouring releases is seen on the cluster
// kept for it, and explained by it, by itself or with others.
func TestEachChange(t *testing.T) {
	var out strings.Builder
	all := release.Releases()
	for i := range all[1:] {
		from, to := all[i], all[i+1]
		comparer := releasediff.New(releasediff.Side{Release: from, System: modelsystem.New(from)}, releasediff.Side{Release: to, System: modelsystem.New(to)})
		missing := func(c releasediff.Change) bool {
			_, err := os.Stat(changeFile(from, to, c))
			return err != nil && unseen[key(from, to, c)] == ""
		}
		if *update && slices.ContainsFunc(releasediff.Changes(from, to), missing) {
			search(t, comparer)
		}
		fmt.Fprintf(&out, "%s to %s\n", from, to)
		for _, c := range releasediff.Changes(from, to) {
			s, err := corpus.Load(changeFile(from, to, c))
			if errors.Is(err, fs.ErrNotExist) {
				why := unseen[key(from, to, c)]
				assert.NotEmpty(t, why, "%s: no cluster", key(from, to, c))
				fmt.Fprintf(&out, "  %s\n    not seen: %s\n", c.Title, why)
				continue
			}
			require.NoError(t, err)
			r, err := comparer.Compare(t.Context(), s.Cases[0].Cluster)
			require.NoError(t, err)
			fmt.Fprintf(&out, "  %s\n", c.Title)
			var titles []string
			for _, e := range r.Effects {
				titles = append(titles, e.Change.Title)
				if e.Change.Title == c.Title {
					fmt.Fprintf(&out, "    %s\n", e.Kind)
				} else {
					fmt.Fprintf(&out, "    besides: %s: %s\n", e.Change.Title, e.Kind)
				}
			}
			assert.Contains(t, titles, c.Title)
		}
	}
	golden := filepath.Join("testdata", "changes.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(out.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("%s (-want +got; go test -update writes it anew):\n%s", golden, diff)
	}
}

func key(from, to release.Release, c releasediff.Change) string {
	name := c.Known
	if name == "" {
		name = c.Title
	}
	return fmt.Sprintf("%s to %s: %s", from, to, name)
}

// unseen are the changes for which there is no cluster, and why.
var unseen = map[string]string{
	"v1.16.15 to v1.19.16: left-out-nodes-counted":                                          "1.16 does not know spread constraints",
	"v1.22.17 to v1.25.16: foreign-ephemeral-claim":                                         "none of 15,000 generated clusters shows it",
	"v1.19.16 to v1.22.17: ephemeral-volumes-uncounted":                                     "1.19 does not know ephemeral volumes",
	"v1.13.0 to v1.16.15: a claim for which a node was selected may still wait for the pod": "none of 15,000 generated clusters shows it",
	"v1.16.15 to v1.19.16: a node without pods of lower priority is not filtered again":     "it comes to the same",
	"v1.16.15 to v1.19.16: terminating-pod-uncounted":                                       "1.16 does not know spread constraints",
	"v1.16.15 to v1.19.16: empty-spread-selector":                                           "1.16 does not know spread constraints",
	"v1.16.15 to v1.19.16: unknown-domain-panics":                                           "1.16 does not know spread constraints",
	"v1.16.15 to v1.19.16: invalid-score-fails-cycle":                                       "the amounts that it takes are compared from 1.36 on",

	"v1.19.16 to v1.22.17: a rejection before any node is looked at names the plugin": "only reasons differ",
	"v1.19.16 to v1.22.17: a dry run tells whether what fails is resolvable":          "only reasons differ",
	"v1.19.16 to v1.22.17: a node without victims is no candidate":                    "it takes an extender, and what 1.19 makes of that is not modelled",
	"v1.19.16 to v1.22.17: extender-rejection-is-error":                               "it takes an extender, and what 1.19 makes of that is not modelled",
	"v1.19.16 to v1.22.17: empty-selector":                                            "to 1.19 an empty selector is something else",
	"v1.19.16 to v1.22.17: zero-candidates":                                           "1.19 does not have the settings",
	"v1.19.16 to v1.22.17: percentage-of-potential-nodes":                             "1.19 does not have the settings, and by default it takes 1,000 nodes",
	"v1.19.16 to v1.22.17: foreign-ephemeral-claim":                                   "1.19 does not know ephemeral volumes",

	"v1.22.17 to v1.25.16: storage-sizes-wrap-around":     "1.22 knows storage capacities only in an earlier version of the API",
	"v1.22.17 to v1.25.16: nothing-left-keeps-nomination": "1.22 keeps the nomination of any pod that preemption does not help",

	"v1.22.17 to v1.25.16: volumes of the plugin of OpenStack count for its CSI driver on each node":         "none of 15,000 generated clusters shows it",
	"v1.25.16 to v1.27.16: volumes of the plugins of AWS and Azure count for their CSI drivers on each node": "no volumes of these plugins are drawn",
	"v1.27.16 to v1.29.6: volumes of the plugin of Google count for its CSI driver on each node":             "none of 15,000 generated clusters shows it",
	"v1.35.4 to v1.36.3: volumes of the plugin of Portworx count for its CSI driver on each node":            "no volumes of these plugins are drawn",
	"v1.25.16 to v1.27.16: preemption is not tried on nodes without a status":                                "it does not help there",
	"v1.25.16 to v1.27.16: VolumeRestrictions looks up the pod's claims before any node is looked at":        "only reasons differ",
	"v1.25.16 to v1.27.16: VolumeZone looks up the pod's volumes before any node is looked at":               "only reasons differ",
	"v1.25.16 to v1.27.16: claim-of-other-namespace":                                                         "1.25 does not know ReadWriteOncePod",
	"v1.25.16 to v1.27.16: claim-counted-once":                                                               "1.25 does not know ReadWriteOncePod",
	"v1.25.16 to v1.27.16: nominated-claim-ignored":                                                          "1.25 does not know ReadWriteOncePod",
	"v1.27.16 to v1.29.6: sidecar-ports-forgotten":                                                           "1.27 does not know sidecars",
	"v1.31.14 to v1.32.13: nodes that are left out are said to be so":                                        "only reasons differ",
	"v1.31.14 to v1.32.13: nominated-node-blames-others":                                                     "only reasons differ",
	"v1.33.13 to v1.34.4: DynamicResources filters":                                                          "1.33 does not know resource claims",
	"v1.33.13 to v1.34.4: claim-allocated-twice":                                                             "1.33 does not know resource claims",
	"v1.33.13 to v1.34.4: admin-devices-withheld":                                                            "1.33 does not know resource claims",
	"v1.35.4 to v1.36.3: admin-access-consumes":                                                              "1.35 does not know what it takes",
	"v1.35.4 to v1.36.3: capacity-names-are-text":                                                            "1.35 does not know what it takes",
	"v1.35.4 to v1.36.3: failure-behind-unready-device":                                                      "1.35 does not know what it takes",
	"v1.35.4 to v1.36.3: share-read-as-another":                                                              "1.35 does not know what it takes",
	"v1.35.4 to v1.36.3: shared-device-given-whole":                                                          "1.35 does not know what it takes",
	"v1.35.4 to v1.36.3: tainted-claim-shared":                                                               "1.35 does not know what it takes",
	"v1.35.4 to v1.36.3: unpicked-class-unnamed":                                                             "what 1.36 makes of extended resources from devices is not modelled",
	"v1.31.14 to v1.32.13: migrated-attachment-uncounted":                                                    "what 1.32 does not count, 1.31 does not count either",
	"v1.36.3 to v1.37.0: missing-driver-resolvable":                                                          "1.36 does not know what it takes",
	"v1.36.3 to v1.37.0: hosts-of-one-name-apart":                                                            "1.36 does not know the gate",
	"v1.36.3 to v1.37.0: migrated-driver-not-missed":                                                         "1.36 does not know what it takes",
	"v1.36.3 to v1.37.0: skipped-operations-ignored":                                                         "1.36 does not know what it takes",
	"v1.36.3 to v1.37.0: pick-by-own-priority":                                                               "in 1.36 the pods' own priorities count anyway",
	"v1.36.3 to v1.37.0: nomination-by-own-priority":                                                         "in 1.36 the pods' own priorities count anyway",
	"v1.36.3 to v1.37.0: skipped-plugins-stay-skipped":                                                       "1.36 is not driven with pod groups that preempt",
	"v1.36.3 to v1.37.0: bound-member-loses-its-claim":                                                       "1.36 is not driven with pod groups that preempt",
	"v1.36.3 to v1.37.0: shared-claim-taken-back":                                                            "1.36 is not driven with pod groups that preempt",
	"v1.36.3 to v1.37.0: skipped-entry-shifts-claims":                                                        "1.36 is not driven with pod groups that preempt",
	"v1.36.3 to v1.37.0: sharer-swaps-devices":                                                               "1.36 is not driven with pod groups that preempt",
	"v1.36.3 to v1.37.0: least-of-two-domains":                                                               "1.36 is not driven with pod groups that preempt",
	"v1.36.3 to v1.37.0: own-nominations-count":                                                              "1.36 is not driven with pod groups that preempt",
	"v1.36.3 to v1.37.0: members-stay-nominated":                                                             "1.36 is not driven with pod groups that preempt",
	"v1.36.3 to v1.37.0: group-keeps-lower-nominations":                                                      "1.36 is not driven with pod groups that preempt",
	"v1.36.3 to v1.37.0: preempts-for-unscheduled-groups":                                                    "1.36 has no composite groups",
	"v1.36.3 to v1.37.0: unknown-topology-domain-is-error":                                                   "1.36 is not driven with pod groups that preempt",
	"v1.36.3 to v1.37.0: group-without-nodes-is-error":                                                       "1.36 is not driven with pod groups that preempt",
	"v1.36.3 to v1.37.0: rule-without-selector":                                                              "1.36 does not know what it takes",
}

// search looks for the clusters that are missing, among generated ones.
func search(t *testing.T, comparer *releasediff.Comparer) {
	var w releasediff.Ways
	for n := range uint64(15000) {
		r, err := comparer.Compare(t.Context(), generators.Ungrouped(n))
		require.NoError(t, err)
		w.Add(r, n)
	}
	s, err := corpus.Load("../../corpus/cases") // the witnesses of known findings, for example
	require.NoError(t, err)
	for i, c := range s.Cases {
		r, err := comparer.Compare(t.Context(), c.Cluster)
		require.NoError(t, err)
		w.Add(r, 1_000_000+uint64(i))
	}
	t.Log(comparer.From.Release, comparer.To.Release, w.Verdicts)
	for _, way := range w.List() {
		require.NotNil(t, way.Change)
		file := changeFile(comparer.From.Release, comparer.To.Release, *way.Change)
		if _, err := os.Stat(file); err == nil {
			continue
		}
		for _, kind := range way.Kinds[:1] {
			witness := kind.Witnesses[0]
			small, err := minimize.Minimise(t.Context(), comparer.Checker(), witness.Cluster, fingerprint.Fingerprint{Property: releasediff.AgreeName, Kind: witness.Effect.String()}, minimize.Options{})
			require.NoError(t, err, "%d", witness.Number)
			c := &corpus.Case{
				Name:        strings.TrimSuffix(filepath.Base(file), ".yaml"),
				Description: way.Change.Title + ": " + kind.Kind,
				Origin:      "generated, minimised", Cluster: small.Cluster,
			}
			var out bytes.Buffer
			require.NoError(t, c.Write(&out))
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, out.Bytes(), 0o644))
		}
	}
}

package corpus

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/model"
)

// All kinds of which storage is made are read from a dump, and what is written
// of it reads back the same.
func TestReadStorageDump(t *testing.T) {
	s, err := Read(strings.NewReader(testdata(t, "storage-dump.yaml")), "dump")
	require.NoError(t, err)
	require.Equal(t, []string{"left out 2 objects of the unknown kind VolumeSnapshot of snapshot.storage.k8s.io/v1"}, s.Notes)
	var names []string
	for _, c := range s.Cases {
		names = append(names, c.Name)
		require.Nil(t, c.Incomplete, c.Name)
		require.NoError(t, apiserver.Admit(c.Cluster))
		kinds := map[string]int{}
		for _, o := range c.Cluster.Extra {
			kinds[reflect.TypeOf(o).Elem().Name()]++
		}
		require.Equal(t, map[string]int{"PersistentVolumeClaim": 5, "PersistentVolume": 3, "StorageClass": 2, "CSINode": 2, "CSIDriver": 1,
			"CSIStorageCapacity": 1, "VolumeAttachment": 1}, kinds)

		var text bytes.Buffer
		saved := &Case{Name: "saved", Cluster: c.Cluster}
		require.NoError(t, saved.Write(&text))
		require.Empty(t, diffCases(saved, readOne(t, text.String())))
	}
	require.Equal(t, []string{"shop/db-0", "shop/next-writer", "shop/big", "shop/slow", "shop/scratch", "shop/resources"}, names)
}

// A dump made without one of the kinds says nothing about the pods that need it,
// rather than something about another cluster.
func TestReadDumpWithoutKind(t *testing.T) {
	plural := map[string]string{"PersistentVolumeClaim": "PersistentVolumeClaims", "PersistentVolume": "PersistentVolumes",
		"StorageClass": "StorageClasses", "CSINode": "CSINodes"}
	for kind, want := range map[string][]string{
		"PersistentVolumeClaim": {"shop/db-0", "shop/next-writer", "shop/big", "shop/slow", "shop/resources"},
		"PersistentVolume":      {"shop/db-0", "shop/next-writer", "shop/resources"},
		"StorageClass":          {"shop/big", "shop/slow"},
		"CSINode":               {"shop/db-0", "shop/next-writer", "shop/big", "shop/slow", "shop/resources"},
		"VolumeAttachment":      nil, // drivers that attach nothing have none
		"PodDisruptionBudget":   nil,
	} {
		text := testdata(t, "storage-dump.yaml")
		items := strings.Split(text, "\n- ")
		var left []string
		for _, item := range items {
			if !strings.Contains(item, "\n  kind: "+kind+"\n") {
				left = append(left, item)
			}
		}
		s, err := Read(strings.NewReader(strings.Join(left, "\n- ")), "dump")
		require.NoError(t, err, kind)
		require.Len(t, s.Cases, 6)
		var incomplete []string
		for _, c := range s.Cases {
			if c.Incomplete != nil {
				incomplete = append(incomplete, c.Name)
				require.Equal(t, model.Unmodelled{{Object: "Pod " + c.Name, Field: "spec.volumes[0].persistentVolumeClaim", Why: "the dump has no " + plural[kind]}},
					c.Incomplete, kind)
			}
		}
		require.Equal(t, want, incomplete, kind)
	}
}

// Where a claim is, is said of one without a namespace too.
func TestClaimIsLocated(t *testing.T) {
	_, err := Read(strings.NewReader(goodHead+goodPods+"---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {accessModes: [ReadWriteOnce]}\n"), "x.yaml")
	require.EqualError(t, err, "x.yaml: document 4, line 19: PersistentVolumeClaim default/data: spec.resources[storage]: Required value")
}

package corpus

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/apiserver"
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
		if c.Name == "shop/resources" {
			require.Len(t, c.Cluster.NotGiven, 3) // all kinds of devices
			continue
		}
		require.Nil(t, c.Cluster.NotGiven, c.Name)
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

// Where a claim is, is said of one without a namespace too.
func TestClaimIsLocated(t *testing.T) {
	_, err := Read(strings.NewReader(goodHead+goodPods+"---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {accessModes: [ReadWriteOnce]}\n"), "x.yaml")
	require.EqualError(t, err, "x.yaml: document 4, line 19: PersistentVolumeClaim default/data: spec.resources[storage]: Required value")
}

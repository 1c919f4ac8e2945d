package address

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAddresses(t *testing.T) {
	require.True(t, IsBucket("gs://b"))
	require.False(t, IsBucket("findings/seed-1"))
	require.Equal(t, "s3://b/x/a.yaml?region=r", Join("s3://b/x/?region=r", "a.yaml"))
	require.Equal(t, "file:///x/a.yaml", Join("file:///x", "a.yaml"))
	require.Equal(t, "x/a.yaml", Join("x/", "a.yaml"))
	name, options := Cut("s3://b/x/a.yaml?region=r")
	require.Equal(t, []string{"s3://b/x/a.yaml", "?region=r"}, []string{name, options})
	name, options = Cut("s3://b")
	require.Equal(t, []string{"s3://b", ""}, []string{name, options})
}

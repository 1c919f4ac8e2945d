package shell

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQuote(t *testing.T) {
	for _, word := range []string{"findings/seed-1", "", "a b", "it's", `"$HOME" \ *`, "two\nlines", "ä;rm"} {
		out, err := exec.Command("sh", "-c", "printf %s "+Quote(word)).Output()
		require.NoError(t, err)
		require.Equal(t, word, string(out))
	}
	require.Equal(t, "findings/seed-1.yaml", Quote("findings/seed-1.yaml"))
}

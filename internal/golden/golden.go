// Package golden holds what tests print against files, which -update writes anew.
package golden

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Update is the flag -update of a test that imports the package.
var Update = flag.Bool("update", false, "write the golden files anew")

// Compare fails the test if the file does not hold what was printed.
func Compare(t *testing.T, file, got string) {
	t.Helper()
	if *Update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; go test -update writes it anew):\n%s", file, diff)
	}
}

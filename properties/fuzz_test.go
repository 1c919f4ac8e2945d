package properties_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/invariant"
)

var save = flag.String("save", "", "directory in which FuzzPreemption saves the clusters on which it finds something, as cases")

// FuzzPreemption lets "go test -fuzz" look for clusters: it keeps the inputs that
// reach something new in the scheduler or in the model, and varies those. Its
// seeds alone are a plain test.
func FuzzPreemption(f *testing.F) {
	checker := checktest.Checker(f)
	checker.Properties = invariant.All()
	f.Add([]byte{})
	for seed := range uint64(20) {
		f.Add(randomBytes(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if text := complaint(checker, generators.FromBytes(data), t.Name()); text != "" {
			t.Fatal(text)
		}
	})
}

// randomBytes are more than most clusters need.
func randomBytes(seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 0))
	data := make([]byte, 256)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	return data
}

// complaint says what is found in a cluster, and shows the cluster as a case; it
// is "" if there is nothing new. test is the name of the test.
func complaint(checker *properties.Checker, c *model.Cluster, test string) (text string) {
	found, err := check(checker, c)
	if err != nil {
		found = []properties.Finding{{Property: "error", Detail: err.Error()}}
	}
	if len(found) == 0 {
		return ""
	}
	for _, f := range found {
		text += f.String() + "\n"
	}
	command := "go test ./properties -run '^" + test + "$'"
	name := strings.ReplaceAll(strings.TrimSpace(found[0].Property+" "+string(found[0].Stage)), " ", "-")
	saved := &corpus.Case{
		Name:        name,
		Description: strings.SplitN(found[0].String(), "\n", 2)[0],
		Origin:      "native fuzzing, not minimised",
		Finding:     &corpus.Finding{Property: found[0].Property, Stage: string(found[0].Stage), Kind: found[0].Kind, Found: command},
		Cluster:     c,
	}
	file := "DIR/" + name + ".yaml"
	if *save != "" {
		if file, err = corpus.Save(*save, saved); err != nil {
			return text + err.Error()
		}
	}
	var yaml bytes.Buffer
	if err := saved.Write(&yaml); err != nil {
		return text + err.Error()
	}
	return fmt.Sprintf("%ssave:     %s -save DIR\nminimise: preemptcheck minimize %s\n\n%s", text, command, file, &yaml)
}

// check answers with what is found and not known; a panic is an error.
func check(checker *properties.Checker, c *model.Cluster) (found []properties.Finding, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	r, err := checker.Check(context.Background(), c)
	if err != nil {
		return nil, err
	}
	return r.Unexplained(), nil
}

// What a failing input prints and saves is a case that shows the same.
func TestFuzzingShowsACase(t *testing.T) {
	right := checktest.Checker(t)
	wrong := &properties.Checker{System: checktest.Liar{System: right.System, Tell: func(_ *model.Cluster, o *model.Observation) {
		if o.Actuation != nil && len(o.Actuation.Deleted) > 1 {
			o.Actuation.Deleted = o.Actuation.Deleted[1:]
		}
	}}}
	panics := &properties.Checker{System: right.System, Decide: func(*model.Cluster) (*answers.Set, error) { panic("a bug") }}
	*save = t.TempDir()
	defer func() { *save = "" }()
	for _, test := range []struct {
		name    string
		checker *properties.Checker
		want    corpus.Finding
	}{
		{"actuate", wrong, corpus.Finding{Property: properties.Differential, Stage: string(model.StageActuate), Found: "go test ./properties -run '^FuzzPreemption/abc$'"}},
		{"panic", panics, corpus.Finding{Property: "error", Found: "go test ./properties -run '^FuzzPreemption/abc$'"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := ""
			for seed := uint64(0); !strings.HasPrefix(text, "finding: "+test.want.Property+": "+test.want.Stage); seed++ {
				c := generators.FromBytes(randomBytes(seed))
				if d, err := answers.Decide(c, answers.Documented()); err != nil || len(d.Choices()) != 1 {
					continue // of several answers, the next time it may be another
				}
				require.Empty(t, complaint(right, c, "FuzzPreemption/abc"))
				text = complaint(test.checker, c, "FuzzPreemption/abc")
			}
			at := strings.Index(text, "apiVersion: ")
			shown, err := corpus.Read(strings.NewReader(text[at:]), "shown")
			require.NoError(t, err)
			got := *shown.Cases[0].Finding
			got.Kind = ""
			require.Equal(t, test.want, got)
			_, path, _ := strings.Cut(text[:at], "minimise: preemptcheck minimize ")
			saved, err := corpus.Load(strings.TrimSpace(path))
			require.NoError(t, err)
			require.Equal(t, shown.Cases[0].Cluster, saved.Cases[0].Cluster)
			found, err := check(test.checker, saved.Cases[0].Cluster)
			if test.want.Property == "error" {
				require.ErrorContains(t, err, "a bug")
				return
			}
			require.NoError(t, err)
			require.Equal(t, shown.Cases[0].Description, found[0].String())
		})
	}
}

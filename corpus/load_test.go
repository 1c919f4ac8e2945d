package corpus

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSaveNeverOverwrites(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "found", "here")
	c := readOne(t, testdata(t, "start-time.yaml"))
	var saves sync.WaitGroup
	for i := range 8 {
		saves.Go(func() {
			mine := *c
			mine.Description = strings.Repeat("x", i+1)
			_, err := Save(dir, &mine)
			require.NoError(t, err)
		})
	}
	saves.Wait()
	s, err := Load(dir)
	require.NoError(t, err)
	require.Len(t, s.Cases, 8)
	var files []string
	seen := map[string]bool{}
	for _, saved := range s.Cases {
		files = append(files, filepath.Base(saved.File))
		seen[saved.Description] = true
		saved.Description = c.Description
		require.Empty(t, diffCases(c, saved))
	}
	require.Len(t, seen, 8)
	require.Equal(t, "latest-start-time-decides-2.yaml", files[0])
	require.Equal(t, "latest-start-time-decides.yaml", files[7])
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 8, "no temporary file is left")
}

func TestSaveKnowsWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	first := readOne(t, testdata(t, "start-time.yaml"))
	second := *first
	second.Description = "another"
	for range 3 {
		var saves sync.WaitGroup
		for range 4 {
			saves.Go(func() {
				_, err := Save(dir, first)
				require.NoError(t, err)
			})
		}
		saves.Wait()
		for c, file := range map[*Case]string{first: "latest-start-time-decides.yaml", &second: "latest-start-time-decides-2.yaml"} {
			path, err := Save(dir, c)
			require.NoError(t, err)
			require.Equal(t, filepath.Join(dir, file), path)
		}
	}
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 2)
}

func TestSaveRemovesLeftovers(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{".saving-1": time.Hour, ".saving-2": 0, "old": time.Hour} {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte("apiVersion"), 0o600))
		then := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(file, then, then))
	}
	_, err := Save(dir, readOne(t, testdata(t, "start-time.yaml")))
	require.NoError(t, err)
	var left []string
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, file := range files {
		left = append(left, file.Name())
	}
	require.Equal(t, []string{".saving-2", "latest-start-time-decides.yaml", "old"}, left)
	s, err := Load(dir)
	require.NoError(t, err)
	require.Len(t, s.Cases, 1)
}

// TestSaveSurvivesKills kills a process that saves one case after the other, again
// and again: each file is whole, and none is there twice.
func TestSaveSurvivesKills(t *testing.T) {
	if dir := os.Getenv("SAVE_UNTIL_KILLED"); dir != "" {
		c := readOne(t, testdata(t, "start-time.yaml"))
		fmt.Println("begins")
		for i := 1; ; i++ {
			c.Description = strings.Repeat("x", i)
			_, err := Save(dir, c)
			require.NoError(t, err)
		}
	}
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	for range 10 {
		saver := exec.Command(os.Args[0], "-test.run=^TestSaveSurvivesKills$")
		saver.Env = append(os.Environ(), "SAVE_UNTIL_KILLED="+dir)
		out, err := saver.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, saver.Start())
		_, err = out.Read(make([]byte, 10))
		require.NoError(t, err)
		time.Sleep(time.Duration(random.IntN(100_000)) * time.Microsecond)
		require.NoError(t, saver.Process.Kill())
		require.ErrorContains(t, saver.Wait(), "killed")
	}
	s, err := Load(dir)
	require.NoError(t, err)
	require.NotEmpty(t, s.Cases)
	seen := map[string]bool{}
	for _, c := range s.Cases {
		require.False(t, seen[c.Description], "%s is there twice", c.File)
		seen[c.Description] = true
	}
	for i := range s.Cases {
		require.True(t, seen[strings.Repeat("x", i+1)], "none is lost")
	}
	t.Logf("%d cases", len(s.Cases))
}

func TestSaveRefuses(t *testing.T) {
	c := readOne(t, testdata(t, "start-time.yaml"))
	c.Name = "Not A Name"
	_, err := Save(t.TempDir(), c)
	require.EqualError(t, err, `writing case Not A Name: the text written: document 1, line 3: Case Not A Name: name: `+
		`"Not A Name" is no name for a case: use lower case letters, digits and '-', at most 240`)
	c.Name = "x"
	c.Cluster.Preemptor = nil
	_, err = Save(t.TempDir(), c)
	require.EqualError(t, err, "writing case x: it has no preemptor")

	c = readOne(t, testdata(t, "start-time.yaml"))
	c.Cluster.Preemptor.Spec.DNSPolicy = "" // as no API server stores it
	_, err = Save(t.TempDir(), c)
	require.EqualError(t, err, "writing case latest-start-time-decides: it reads back as another case; was its cluster admitted?")
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"b.yaml":     goodHead + goodPods,
		"a/z.yml":    goodHead + goodPods,
		"a/bad.json": "{",
		"README.md":  "not a case",
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	s, err := Load(dir, filepath.Join(dir, "b.yaml"), filepath.Join(dir, "gone"))
	var files []string
	for _, c := range s.Cases {
		files = append(files, strings.TrimPrefix(c.File, dir))
	}
	require.Equal(t, []string{"/a/z.yml", "/b.yaml", "/b.yaml"}, files)
	require.EqualError(t, err, dir+"/a/bad.json: document 1, line 2: did not find expected node content\nstat "+dir+"/gone: no such file or directory")

	empty := t.TempDir()
	_, err = Load(empty)
	require.EqualError(t, err, empty+": there is no .yaml, .yml or .json file in it")
}

func TestExpected(t *testing.T) {
	c := &Case{Expect: []Expectation{
		{Releases: ">=1.31.0 <1.35.0", Outcome: Error},
		{Releases: "<1.20.0 || >=1.37.0", Outcome: NotHelpful},
	}}
	for release, want := range map[string]string{
		"v1.31.0": Error, "1.34.9": Error, "v1.35.0": "", "v1.19.3": NotHelpful, "v1.37.1": NotHelpful, "v1.38.0-alpha.1": NotHelpful, "my-fork": "",
	} {
		got := ""
		if e := c.Expected(release); e != nil {
			got = e.Outcome
		}
		require.Equal(t, want, got, release)
	}
	c.Expect = append(c.Expect, Expectation{Outcome: Scheduled})
	require.Equal(t, Scheduled, c.Expected("my-fork").Outcome)
}

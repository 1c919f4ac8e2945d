package releases

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model/observation"
	"github.com/preemptcheck/preemptcheck/reference/releases/wire"
)

// The test binary is its own driver, and its own go command: what it is, the
// environment says.
const (
	fakeDriver = "PREEMPTCHECK_FAKE_DRIVER" // its value is the release that it says it is of
	fakeGo     = "PREEMPTCHECK_FAKE_GO"     // its value is the file to tell of the build in
	// fakeModules is where the fake go command has Kubernetes.
	fakeModules = "PREEMPTCHECK_FAKE_MODULES"
)

func TestMain(m *testing.M) {
	if release := os.Getenv(fakeDriver); release != "" {
		driveFake(release)
	} else if file := os.Getenv(fakeGo); file != "" {
		buildFake(file)
	} else {
		os.Exit(m.Run())
	}
}

type framework struct{}

// RunScorePlugins dies as upstream's does: in a goroutine of its own.
func (framework) RunScorePlugins() {
	go func() { panic("runtime error: invalid memory address or nil pointer dereference") }()
	time.Sleep(time.Hour)
}

// driveFake does what the name of the preemptor says.
func driveFake(release string) {
	switch release {
	case "silent":
		time.Sleep(time.Hour)
	case "broken":
		fmt.Fprintln(os.Stderr, "no such library")
		os.Exit(127)
	}
	err := wire.Serve(release, os.Stdin, os.Stdout, func(r *wire.Request) (*observation.Observation, error) {
		var preemptor v1.Pod
		if err := json.Unmarshal(r.Preemptor, &preemptor); err != nil {
			return nil, err
		}
		switch preemptor.Name {
		case "panic":
			go panic("runtime error: index out of range [3] with length 3")
			time.Sleep(time.Hour)
		case "panic-in-score":
			framework{}.RunScorePlugins()
		case "exit":
			os.Exit(3)
		case "panic-once":
			// The name of the file is in the namespace, for want of a better place.
			if f, err := os.OpenFile(preemptor.Namespace, os.O_CREATE|os.O_EXCL, 0o644); err == nil {
				f.Close()
				panic("once")
			}
		case "hang":
			time.Sleep(time.Hour)
		case "babble":
			fmt.Println("I0101 scheduler started")
		case "refuse":
			return nil, wire.Refusal("Pod default/refuse: spec.resources")
		case "fail":
			return nil, errors.New("preemptor default/fail is being deleted")
		}
		// The pid tells processes apart.
		return &observation.Observation{System: release, ScheduledTo: strconv.Itoa(os.Getpid()), PotentialNodes: []string{}}, nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// buildFake is a go command that notes its arguments and the files it was to build
// from, and writes the binary.
func buildFake(file string) {
	if os.Args[1] == "mod" {
		_ = json.NewEncoder(os.Stdout).Encode(map[string]string{"Path": os.Args[4], "Dir": os.Getenv(fakeModules)})
		return
	}
	var files []string
	_ = filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	note := strings.Join(os.Args[1:], " ") + "\n" + strings.Join(files, "\n")
	if err := os.WriteFile(file, []byte(note), 0o644); err != nil {
		panic(err)
	}
	if strings.Contains(note, "release=v1.27.16") {
		fmt.Fprintln(os.Stderr, "./main.go:1:1: syntax error")
		os.Exit(1)
	}
	output := os.Args[slices.Index(os.Args, "-o")+1]
	if err := os.WriteFile(output, []byte("driver"), 0o755); err != nil {
		panic(err)
	}
}

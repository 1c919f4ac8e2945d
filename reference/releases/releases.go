// Package releases drives the kube-schedulers of other releases. A Go program can
// hold one k8s.io/kubernetes only, so each release is a small program of its own,
// the driver, built on demand from its own go.mod and kept in the user's cache. A
// System talks to it in lines of JSON (package wire).
//
// A driver does to its scheduler what package inprocess does to the one linked in,
// and its observations have the same stages. Nothing here is linked with
// k8s.io/kubernetes.
package releases

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model/release"
)

// The sources of the drivers are not packages of this module, which could not be
// built with their go.mod files.
//
//go:embed _driver lifewire/lifewire.go wire/wire.go wire/gated.go standin/client.go standin/extender.go
var sources embed.FS

// All names the releases that can be driven, the oldest first.
func All() []string {
	mods, err := fs.Glob(sources, modFile("*"))
	if err != nil {
		panic(err)
	}
	var all []string
	for _, path := range mods {
		all = append(all, strings.TrimSuffix(strings.TrimPrefix(path, "_driver/mods/"), ".mod"))
	}
	slices.SortFunc(all, func(a, b string) int {
		return mustParse(a).Compare(mustParse(b))
	})
	return all
}

// Known tells whether a release can be driven.
func Known(version string) bool {
	_, err := fs.Stat(sources, modFile(version))
	return err == nil
}

func modFile(version string) string { return "_driver/mods/" + version + ".mod" }

// mustParse is for the names of All.
func mustParse(version string) release.Release {
	r, err := release.Parse(version)
	if err != nil {
		panic(err)
	}
	return r
}

// drivers are the directories of the programs' sources, the newest first, and the
// first minor release that each is for.
var drivers = []struct {
	dir   string
	first int
}{
	{"evaluator", 25},   // DefaultPreemption with an Evaluator
	{"framework", 19},   // DefaultPreemption on its own
	{"generic", oldest}, // genericScheduler.Preempt
}

const oldest = 13

// driverOf returns the directory of the driver for a release, and the build tags that
// tell it which release it is for: one per minor release from the oldest on.
func driverOf(r release.Release) (dir string, tags []string) {
	for minor := oldest; minor <= r.Minor; minor++ {
		tags = append(tags, fmt.Sprintf("k1.%d", minor))
	}
	for _, d := range drivers {
		if r.Minor >= d.first {
			return d.dir, tags
		}
	}
	panic(fmt.Sprintf("no driver for 1.%d", r.Minor))
}

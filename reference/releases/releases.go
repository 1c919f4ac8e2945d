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
//go:embed _driver wire/wire.go wire/gated.go standin/client.go standin/extender.go
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

// A driver is the source of the program for a range of releases.
type driver struct {
	dir string
	// also holds the directories of what it has in common with others.
	also []string
	// first is the first minor release it is for.
	first int
}

// drivers, the newest first.
var drivers = []driver{
	{dir: "evaluator", also: []string{"shared", "profiles"}, first: 25}, // DefaultPreemption with an Evaluator
	{dir: "framework", also: []string{"shared", "profiles"}, first: 19}, // DefaultPreemption on its own
	{dir: "generic", also: []string{"shared"}, first: 13},               // genericScheduler.Preempt
}

// driverOf returns the driver for a release, and the build tags that tell it which release
// it is for: one per minor release from its first one on.
func driverOf(r release.Release) (d driver, tags []string) {
	for _, d := range drivers {
		if r.Minor >= d.first {
			for minor := d.first; minor <= r.Minor; minor++ {
				tags = append(tags, fmt.Sprintf("k1.%d", minor))
			}
			return d, tags
		}
	}
	panic(fmt.Sprintf("no driver for 1.%d", r.Minor))
}

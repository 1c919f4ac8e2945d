package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// written is a release of stand-ins, which say what they were built for.
func written(t *testing.T) (dir string) {
	t.Chdir("../..") // for the licence
	dir = t.TempDir()
	var binaries []binary
	for _, p := range released {
		b := binary{p, filepath.Join(t.TempDir(), "program")}
		require.NoError(t, os.WriteFile(b.path, []byte("for "+p.String()), 0o755))
		require.NoError(t, os.Chtimes(b.path, time.Now(), time.Now()))
		binaries = append(binaries, b)
	}
	r := &release{version: "v1.2.3", when: time.Unix(1700000000, 0).UTC(), out: dir, log: io.Discard,
		pages: []entry{{name: "man/preemptcheck.1", mode: 0o644, data: []byte("a page")}}}
	require.NoError(t, r.write(binaries))
	return dir
}

// untar are the files of an archive, each with its mode and what it links to.
func untar(t *testing.T, r io.Reader) map[string]string {
	files := map[string]string{}
	for all := tar.NewReader(r); ; {
		h, err := all.Next()
		if err == io.EOF {
			return files
		}
		require.NoError(t, err)
		require.Zero(t, h.Uid)
		require.EqualValues(t, 1700000000, h.ModTime.Unix())
		data, err := io.ReadAll(all)
		require.NoError(t, err)
		files[h.Name] = fmt.Sprintf("%o %s%s", h.Mode, data, h.Linkname)
	}
}

// What is released is the same, byte for byte, whenever and wherever it is written.
func TestReleaseIsReproducible(t *testing.T) {
	one, other := written(t), ""
	t.Run("again", func(t *testing.T) {
		time.Sleep(1100 * time.Millisecond) // a file's time has other seconds
		t.Chdir("internal/dist")
		other = written(t)
		files, err := os.ReadDir(other)
		require.NoError(t, err)
		require.Len(t, files, len(released)+3)
		for _, f := range files {
			first, err := os.ReadFile(filepath.Join(one, f.Name()))
			require.NoError(t, err)
			second, err := os.ReadFile(filepath.Join(other, f.Name()))
			require.NoError(t, err)
			require.True(t, bytes.Equal(first, second), f.Name())
		}
	})
}

func TestArchives(t *testing.T) {
	dir := written(t)
	for _, p := range released {
		f, err := os.Open(filepath.Join(dir, fmt.Sprintf("preemptcheck_v1.2.3_%s_%s.tar.gz", p.OS, p.Arch)))
		require.NoError(t, err)
		zipped, err := gzip.NewReader(f)
		require.NoError(t, err)
		files := untar(t, zipped)
		require.NoError(t, f.Close())
		require.Equal(t, "755 for "+p.String(), files["preemptcheck"])
		require.Equal(t, "777 preemptcheck", files["kubectl-preemptcheck"])
		require.True(t, strings.HasPrefix(files["kubectl_complete-preemptcheck"], "755 #!/bin/sh\n"))
		require.Contains(t, files["LICENSE"], "Apache License")
		require.Equal(t, "644 a page", files["man/preemptcheck.1"])
		require.Len(t, files, 5)
	}
}

// Every file has its checksum, in the form that sha256sum -c reads.
func TestChecksums(t *testing.T) {
	dir := written(t)
	list, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(list)), "\n")
	require.Len(t, lines, len(released)+2)
	for _, line := range lines {
		sum, name, _ := strings.Cut(line, "  ")
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("%x", sha256.Sum256(data)), sum)
	}
}

// The manifest names each archive with its checksum, and has what krew requires of one.
func TestKrewManifest(t *testing.T) {
	dir := written(t)
	text, err := os.ReadFile(filepath.Join(dir, "preemptcheck.yaml"))
	require.NoError(t, err)
	var plugin struct {
		APIVersion, Kind string
		Metadata         struct{ Name string }
		Spec             struct {
			Version, Homepage, ShortDescription, Description string
			Platforms                                        []struct {
				Selector         struct{ MatchLabels map[string]string }
				URI, SHA256, Bin string
				Files            []struct{ From, To string }
			}
		}
	}
	require.NoError(t, yaml.UnmarshalStrict(text, &plugin))
	require.Equal(t, "v1.2.3", plugin.Spec.Version)
	require.LessOrEqual(t, len(plugin.Spec.ShortDescription), 50, "krew's style guide")
	require.Len(t, plugin.Spec.Platforms, len(released))
	for i, p := range plugin.Spec.Platforms {
		require.Equal(t, map[string]string{"os": released[i].OS, "arch": released[i].Arch}, p.Selector.MatchLabels)
		data, err := os.ReadFile(filepath.Join(dir, filepath.Base(p.URI)))
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("%x", sha256.Sum256(data)), p.SHA256)
		require.Equal(t, "preemptcheck", p.Bin)
	}
}

// The image is a valid one for each platform of Linux: nothing but the program, run by a user
// who is not root.
func TestImage(t *testing.T) {
	dir := written(t)
	f, err := os.Open(filepath.Join(dir, "preemptcheck_v1.2.3_image.tar"))
	require.NoError(t, err)
	defer f.Close()
	unpacked := t.TempDir()
	for name, content := range untar(t, f) {
		path := filepath.Join(unpacked, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(strings.TrimPrefix(content, "644 ")), 0o644))
	}
	top, err := layout.ImageIndexFromPath(unpacked)
	require.NoError(t, err)
	outer, err := top.IndexManifest()
	require.NoError(t, err)
	require.Len(t, outer.Manifests, 1)
	index, err := top.ImageIndex(outer.Manifests[0].Digest)
	require.NoError(t, err)
	require.NoError(t, validate.Index(index))
	manifest, err := index.IndexManifest()
	require.NoError(t, err)
	require.Len(t, manifest.Manifests, 2)
	for i, m := range manifest.Manifests {
		require.Equal(t, released[i].OS+"/"+released[i].Arch, m.Platform.String())
		image, err := index.Image(m.Digest)
		require.NoError(t, err)
		config, err := image.ConfigFile()
		require.NoError(t, err)
		require.Equal(t, "65532:65532", config.Config.User)
		require.Equal(t, []string{"/preemptcheck"}, config.Config.Entrypoint)
		require.Equal(t, released[i].Arch, config.Architecture)
		content := mutate.Extract(image)
		require.Equal(t, map[string]string{"preemptcheck": "755 for " + released[i].String(), "tmp": "1777 "}, untar(t, content))
		require.NoError(t, content.Close())
	}
}

func TestBadArguments(t *testing.T) {
	t.Chdir("../..")
	require.ErrorContains(t, run(t.Context(), []string{"-platforms", "plan9/386"}), `-platforms: "plan9/386" is none of`)
	require.ErrorContains(t, run(t.Context(), []string{"-version", "1.2"}), `-version: "1.2" is no version such as v1.2.3`)
}

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"
)

// release is what is written of a version.
type release struct {
	version string
	when    time.Time // the time of every file in an archive: that of the commit
	out     string
	pages   []entry // the manual, and completions
	log     io.Writer
}

// entry is a file of an archive.
type entry struct {
	name string
	mode int64
	data []byte
	link string // of a symbolic link, what it names
}

// The programs as the archives hold them: a link by which kubectl finds the plugin, and what
// kubectl asks for completions.
const (
	program    = "preemptcheck"
	plugin     = "kubectl-preemptcheck"
	completion = "kubectl_complete-preemptcheck"
)

//go:embed complete.sh
var completeScript []byte

//go:embed krew.yaml.tmpl
var krewText string

var krewTemplate = template.Must(template.New("krew").Parse(krewText))

// write writes archives, plugin manifest, image and checksums.
func (r *release) write(binaries []binary) error {
	licence, err := os.ReadFile("LICENSE")
	if err != nil {
		return err
	}
	sums := map[string]string{}
	type archived struct {
		OS, Arch, File, Sum string
	}
	var archives []archived
	for _, b := range binaries {
		data, err := os.ReadFile(b.path)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("%s_%s_%s_%s.tar.gz", program, r.version, b.OS, b.Arch)
		var zipped bytes.Buffer
		err = writeArchive(&zipped, r.when, append([]entry{
			{name: "LICENSE", mode: 0o644, data: licence},
			{name: plugin, link: program},
			{name: completion, mode: 0o755, data: completeScript},
			{name: program, mode: 0o755, data: data},
		}, r.pages...))
		if err != nil {
			return err
		}
		if sums[name], err = r.save(name, zipped.Bytes()); err != nil {
			return err
		}
		archives = append(archives, archived{b.OS, b.Arch, name, sums[name]})
	}
	var manifest bytes.Buffer
	if err := krewTemplate.Execute(&manifest, map[string]any{"Version": r.version, "Archives": archives}); err != nil {
		return err
	}
	const krew = "preemptcheck.yaml"
	if sums[krew], err = r.save(krew, manifest.Bytes()); err != nil {
		return err
	}
	if onLinux := slices.DeleteFunc(slices.Clone(binaries), func(b binary) bool { return b.OS != "linux" }); len(onLinux) > 0 {
		name := fmt.Sprintf("%s_%s_image.tar", program, r.version)
		var image bytes.Buffer
		if err := r.writeImage(&image, onLinux); err != nil {
			return fmt.Errorf("image: %w", err)
		}
		if sums[name], err = r.save(name, image.Bytes()); err != nil {
			return err
		}
	}
	var list strings.Builder
	for _, name := range sortedKeys(sums) {
		fmt.Fprintf(&list, "%s  %s\n", sums[name], name)
	}
	_, err = r.save("SHA256SUMS", []byte(list.String()))
	return err
}

// save writes a file as a whole or not at all, and returns its checksum.
func (r *release) save(name string, data []byte) (sum string, err error) {
	path := filepath.Join(r.out, name)
	if err := os.WriteFile(path+".part", data, 0o644); err != nil {
		return "", err
	}
	fmt.Fprintf(r.log, "%s (%.1f MB)\n", path, float64(len(data))/1e6)
	return fmt.Sprintf("%x", sha256.Sum256(data)), os.Rename(path+".part", path)
}

// writeArchive writes a compressed archive. All its files are of one time, and of nobody.
func writeArchive(w io.Writer, when time.Time, entries []entry) error {
	zipped, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := writeTar(zipped, when, entries); err != nil {
		return err
	}
	return zipped.Close()
}

func writeTar(w io.Writer, when time.Time, entries []entry) error {
	t := tar.NewWriter(w)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: e.mode, ModTime: when, Size: int64(len(e.data)), Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		switch {
		case e.link != "":
			h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, e.link, 0o777
		case strings.HasSuffix(e.name, "/"):
			h.Typeflag = tar.TypeDir
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(e.data); err != nil {
			return err
		}
	}
	return t.Close()
}

func sortedKeys(m map[string]string) (keys []string) {
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

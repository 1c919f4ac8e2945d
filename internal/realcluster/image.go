package realcluster

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// pauseName is the image of the container that holds a pod together. Pods may be made of it, too: it waits
// until it is told to end.
const pauseName = "registry.example.com/pause:1"

// PauseImage is the name of an image whose containers wait until they are told to end.
const PauseImage = pauseName

// pauseImage builds the image, and returns the file.
func pauseImage(ctx context.Context) (file string, err error) {
	_, source, _, ok := runtime.Caller(0)
	if !ok {
		return "", fmt.Errorf("where the source of this package is, is not known")
	}
	binary := filepath.Join(Root, "pause")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "./pause")
	cmd.Dir, cmd.Env = filepath.Dir(source), append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	data, err := os.ReadFile(binary)
	if err != nil {
		return "", err
	}
	var files bytes.Buffer
	w := tar.NewWriter(&files)
	if err := w.WriteHeader(&tar.Header{Name: "pause", Mode: 0o755, Size: int64(len(data))}); err != nil {
		return "", err
	}
	if _, err := w.Write(data); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files.Bytes())), nil })
	if err != nil {
		return "", err
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return "", err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return "", err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = runtime.GOOS, runtime.GOARCH
	config.Config.Entrypoint = []string{"/pause"}
	if image, err = mutate.ConfigFile(image, config); err != nil {
		return "", err
	}
	tag, err := name.NewTag(pauseName)
	if err != nil {
		return "", err
	}
	file = binary + ".tar"
	return file, tarball.WriteToFile(file, tag, image)
}

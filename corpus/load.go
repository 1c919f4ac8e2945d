package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Load reads files, the *.yaml, *.yml and *.json files below directories, and
// standard input for "-". Files of a directory come in the order of their names.
// A file that cannot be read does not keep the others from being read: the
// stream holds those, and the error joins what is wrong with each bad one. Only of one file is
// there a Dump.
func Load(paths ...string) (*Stream, error) {
	var files []string
	bad := map[string]error{}
	for _, path := range paths {
		below, err := Files(path)
		if err != nil {
			bad[path], below = err, []string{path}
		}
		files = append(files, below...)
	}
	all, err := LoadNamed(files, func(file string) (io.ReadCloser, error) {
		if err := bad[file]; err != nil {
			return nil, err
		}
		return os.Open(file)
	})
	if len(paths) != 1 {
		all.Dump = nil
	}
	return all, err
}

// LoadNamed is Load for whatever has names that end as those of such files do, and can be opened by them.
func LoadNamed(names []string, open func(name string) (io.ReadCloser, error)) (*Stream, error) {
	all := &Stream{}
	var errs []error
	for _, name := range names {
		s, err := loadOne(name, open)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all.Cases = append(all.Cases, s.Cases...)
		if len(names) == 1 {
			all.Dump = s.Dump
		}
		all.Idle = append(all.Idle, s.Idle...)
		for _, note := range s.Notes {
			all.Notes = append(all.Notes, name+": "+note)
		}
	}
	return all, errors.Join(errs...)
}

// IsFile tells whether a name ends as those of files do that are read below directories.
func IsFile(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name))
}

// Files are the file of a path, or those that Load reads below a directory. "-" is itself.
func Files(path string) (files []string, err error) {
	if path == "-" {
		return []string{path}, nil
	}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	err = filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && IsFile(file) {
			files = append(files, file)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: there is no .yaml, .yml or .json file in it", path)
	}
	return files, err
}

func loadOne(name string, open func(string) (io.ReadCloser, error)) (*Stream, error) {
	if name == "-" {
		return Read(os.Stdin, "standard input")
	}
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, name)
}

// Save writes a case to a new file in dir, which it creates if need be: to
// NAME.yaml, or NAME-2.yaml, NAME-3.yaml and so on if there are such files. They
// are never overwritten, but one that holds exactly this case is as good as new:
// so saving again, after a crash, changes nothing. All this holds for processes
// that save at once too, and after a crash at any instant the file is there as a
// whole or not at all.
func Save(dir string, c *Case) (path string, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	var text bytes.Buffer
	if err := c.Write(&text); err != nil {
		return "", err
	}
	removeLeftovers(dir)
	temp, err := os.CreateTemp(dir, tempPrefix+"*")
	if err != nil {
		return "", err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(text.Bytes())
	err = errors.Join(err, temp.Chmod(0o644), temp.Sync(), temp.Close())
	if err != nil {
		return "", err
	}
	name := fileName(c.Name)
	for n := 1; ; n++ {
		path = filepath.Join(dir, name+".yaml")
		if n > 1 {
			path = filepath.Join(dir, fmt.Sprintf("%s-%d.yaml", name, n))
		}
		// Unlike a rename, a link fails if there is such a file; what it names is
		// whole from the first moment.
		if err = os.Link(temp.Name(), path); !errors.Is(err, fs.ErrExist) {
			break
		}
		if there, err := os.ReadFile(path); err == nil && bytes.Equal(there, text.Bytes()) {
			return path, nil
		}
	}
	if err != nil {
		return "", err
	}
	return path, syncDir(dir)
}

// tempPrefix begins the names of files that are being written. Load reads none
// of them, as they do not end in .yaml.
const tempPrefix = ".saving-"

// removeLeftovers removes what processes left that were killed while they saved.
// Saving takes milliseconds: what is a minute old is nobody's any more. What
// cannot be removed does no harm.
func removeLeftovers(dir string) {
	files, _ := os.ReadDir(dir)
	for _, file := range files {
		if !strings.HasPrefix(file.Name(), tempPrefix) {
			continue
		}
		if info, err := file.Info(); err == nil && time.Since(info.ModTime()) > time.Minute {
			os.Remove(filepath.Join(dir, file.Name()))
		}
	}
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

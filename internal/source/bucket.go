package source

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/store"
	"github.com/preemptcheck/preemptcheck/internal/store/address"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/internal/words"
)

// OpenBucket opens a bucket. Trouble with it is told on standard error.
func OpenBucket(cmd *cobra.Command, address string) (*store.Store, error) {
	s, err := store.Open(cmd.Context(), address)
	if err != nil {
		return nil, err
	}
	var told time.Time
	s.Trouble = func(err error) {
		if time.Since(told) > 10*time.Second {
			told = time.Now()
			terminal.Note(cmd.ErrOrStderr(), words.FirstLine(err.Error())+": trying again")
		}
	}
	return s, nil
}

// readBucket reads the cases of a bucket, or the one whose address it is. Each is named by its own address.
func readBucket(cmd *cobra.Command, where string) (*corpus.Stream, error) {
	bucket, only := where, ""
	if name, options := address.Cut(where); corpus.IsFile(name) {
		only = path.Base(name)
		bucket = strings.TrimSuffix(name, "/"+only) + options
	}
	s, err := OpenBucket(cmd, bucket)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	keys := map[string]string{} // by address
	var names []string
	if err := s.List(cmd.Context(), only, func(o store.Object) {
		// What else a campaign keeps is JSON.
		if only == "" && corpus.IsFile(o.Key) && path.Ext(o.Key) != ".json" || o.Key == only {
			name := address.Join(bucket, o.Key)
			names, keys[name] = append(names, name), o.Key
		}
	}); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: there are no cases in it", where)
	}
	return corpus.LoadNamed(names, func(name string) (io.ReadCloser, error) {
		data, err := s.Get(cmd.Context(), keys[name])
		return io.NopCloser(bytes.NewReader(data)), err
	})
}

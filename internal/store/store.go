// Package store keeps objects in a bucket: of S3, of Google Cloud Storage, of Azure, or in a directory of a file
// system. What is written is there whole or not at all. A request that fails for a reason that may go away is tried again for some minutes.
//
// Credentials come from the usual chains of each provider only: environment, files, the identity of the machine or pod.
package store

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/smithy-go"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/fileblob"  // file://
	_ "gocloud.dev/blob/gcsblob"   // gs://
	_ "gocloud.dev/blob/memblob"   // mem://, for tests
	_ "gocloud.dev/blob/s3blob"    // s3://
	"gocloud.dev/gcerrors"
	"k8s.io/apimachinery/pkg/util/wait"
)

// Schemes are the kinds of buckets that there are.
var Schemes = []string{"s3", "gs", "azblob", "file"}

// Store is a bucket, or what is below a prefix of one.
type Store struct {
	// URL is its address as it was given, without what follows the question mark.
	URL    string
	bucket *blob.Bucket
	// dir is the directory of file://, else "".
	dir string
	// Trouble, if it is not nil, is told of the error of a request that is tried again.
	Trouble func(error)
	// Patience is how long a request is tried again.
	Patience time.Duration
	// Pause is how long it waits before the second try: then twice as long each time, up to 100 times.
	Pause time.Duration
}

// Open opens a bucket: SCHEME://BUCKET/PREFIX?OPTIONS, with the options of gocloud.dev's drivers ("region", "endpoint",
// "use_path_style", …), or file:///DIRECTORY. Nothing is asked of it yet.
func Open(ctx context.Context, address string) (*Store, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	shown := *u
	shown.RawQuery, shown.User = "", nil
	if u.User != nil {
		return nil, fmt.Errorf("%s: leave out what stands before @: credentials come from the environment", shown.String())
	}
	prefix, dir := "", ""
	switch {
	case u.Scheme == "file":
		if u.Host != "" || u.Path == "" {
			return nil, fmt.Errorf("%s: write file:///DIRECTORY, with the whole path", shown.String())
		}
		dir = filepath.FromSlash(u.Path)
		q := u.Query()
		q.Set("create_dir", "true")
		q.Set("metadata", "skip")
		q.Set("no_tmp_dir", "true")
		u.RawQuery = q.Encode()
	case u.Scheme == "mem" || slices.Contains(Schemes, u.Scheme):
		if u.Host == "" && u.Scheme != "mem" {
			return nil, fmt.Errorf("%s: which bucket? Write %s://BUCKET/PREFIX", shown.String(), u.Scheme)
		}
		prefix = strings.Trim(u.Path, "/")
		u.Path = ""
	default:
		return nil, fmt.Errorf("%s: there are no buckets of %q: write one of %s://", shown.String(), u.Scheme, strings.Join(Schemes, "://, "))
	}
	bucket, err := blob.OpenBucket(ctx, u.String())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shown.String(), err)
	}
	if prefix != "" {
		bucket = blob.PrefixedBucket(bucket, prefix+"/")
	}
	return &Store{URL: shown.String(), bucket: bucket, dir: dir, Patience: 5 * time.Minute, Pause: 200 * time.Millisecond}, nil
}

// Name is the URL.
func (s *Store) Name() string { return s.URL }

// Close lets the bucket go.
func (s *Store) Close() error { return s.bucket.Close() }

// ErrTaken is the error of Create where another object has the key.
var ErrTaken = errors.New("it is there already")

// Create writes an object whose key must not be in use. It is ErrTaken if the key is, unless what is there is the same: then an
// earlier try came through, although its answer did not.
func (s *Store) Create(ctx context.Context, key string, data []byte) error {
	return s.again(ctx, key, func() error {
		var err error
		if s.dir != "" {
			err = s.link(key, data)
		} else {
			err = s.write(ctx, key, data, true)
		}
		if code(err) != gcerrors.FailedPrecondition && !errors.Is(err, fs.ErrExist) {
			return err
		}
		there, err := s.bucket.ReadAll(ctx, key)
		switch {
		case err == nil && bytes.Equal(there, data):
			return nil
		case err == nil, code(err) == gcerrors.NotFound:
			return ErrTaken
		}
		return err
	})
}

// Put writes an object, instead of the one that has the key.
func (s *Store) Put(ctx context.Context, key string, data []byte) error {
	return s.again(ctx, key, func() error { return s.write(ctx, key, data, false) })
}

// link creates a file in one step, which gocloud.dev's driver does not: of two processes that create it, both may believe that they did.
func (s *Store) link(key string, data []byte) error {
	file := filepath.Join(s.dir, filepath.FromSlash(key))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(data)
	if err := errors.Join(err, temp.Chmod(0o644), temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return os.Link(temp.Name(), file)
}

func (s *Store) write(ctx context.Context, key string, data []byte, ifNotExist bool) error {
	// In one part: in several, some servers forget the condition.
	return s.bucket.WriteAll(ctx, key, data, &blob.WriterOptions{IfNotExist: ifNotExist, ContentType: "application/octet-stream", BufferSize: max(len(data)+1, minPart), DisableContentTypeDetection: true})
}

// minPart is the least size of a part that S3 takes, in bytes.
const minPart = 5 << 20

// Get reads an object. The error is an fs.ErrNotExist if there is none.
func (s *Store) Get(ctx context.Context, key string) (data []byte, err error) {
	err = s.again(ctx, key, func() (err error) {
		data, err = s.bucket.ReadAll(ctx, key)
		return err
	})
	return data, err
}

// Delete removes an object, if there is one.
func (s *Store) Delete(ctx context.Context, key string) error {
	err := s.again(ctx, key, func() error { return s.bucket.Delete(ctx, key) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Exists tells whether there is an object.
func (s *Store) Exists(ctx context.Context, key string) (bool, error) {
	err := s.again(ctx, key, func() error {
		_, err := s.bucket.Attributes(ctx, key)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Object is one in a listing.
type Object struct {
	Key string
	// Modified is when it was written, by the clock of the store; Size is its bytes.
	Modified time.Time
	Size     int64
}

// List calls found for all objects whose keys begin with a prefix, in the order of their keys.
func (s *Store) List(ctx context.Context, prefix string, found func(Object)) error {
	token := blob.FirstPageToken
	for len(token) > 0 {
		var page []*blob.ListObject
		var next []byte
		if err := s.again(ctx, prefix, func() (err error) {
			page, next, err = s.bucket.ListPage(ctx, token, 1000, &blob.ListOptions{Prefix: prefix})
			if s.dir != "" && code(err) == gcerrors.NotFound {
				err = errors.New(err.Error()) // a file went while the directory was read
			}
			return err
		}); err != nil {
			return err
		}
		for _, o := range page {
			if !o.IsDir && !strings.HasSuffix(o.Key, ".tmp") { // a temporary file of a write that is under way
				found(Object{o.Key, o.ModTime, o.Size})
			}
		}
		token = next
	}
	return nil
}

// again does something until it works, or fails for a reason that stays, or the patience is at an end.
func (s *Store) again(ctx context.Context, key string, do func() error) error {
	deadline := time.Now().Add(s.Patience)
	backoff := wait.Backoff{Duration: s.Pause, Factor: 2, Jitter: 1, Steps: 1000, Cap: 100 * s.Pause}
	for {
		err := do()
		if err == nil || errors.Is(err, ErrTaken) {
			return err
		}
		if code(err) == gcerrors.NotFound && !strings.Contains(err.Error(), noBucket) {
			return fmt.Errorf("%s/%s: %w", s.URL, key, fs.ErrNotExist)
		}
		pause := backoff.Step()
		if backoff.Steps == 0 { // the cap was reached: the next pauses are as long
			backoff.Steps, backoff.Duration = 1000, 100*s.Pause
		}
		switch named := fmt.Errorf("%s/%s: %w", s.URL, key, err); {
		case ctx.Err() != nil || stays(err):
			return named
		case time.Now().Add(pause).After(deadline):
			return trouble{named}
		}
		if s.Trouble != nil {
			s.Trouble(fmt.Errorf("%s/%s: %w", s.URL, key, err))
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Trouble tells whether an error is one of a request that was tried again, in vain.
func Trouble(err error) bool { return errors.As(err, new(trouble)) }

type trouble struct{ error }

func (t trouble) Unwrap() error { return t.error }

// code is what kind of error it is. gocloud.dev takes each error of S3 with "301" in its text for one of a bucket that is not there, also if
// it stands in a port or in the random name of a request (google/go-cloud#3746).
func code(err error) gcerrors.ErrorCode {
	if operation := (*smithy.OperationError)(nil); !errors.As(err, &operation) {
		return gcerrors.Code(err)
	}
	said := smithy.APIError(&smithy.GenericAPIError{}) // if the server said nothing
	errors.As(err, &said)
	switch said.ErrorCode() {
	case "NoSuchKey", "NotFound", noBucket:
		return gcerrors.NotFound
	case "PreconditionFailed":
		return gcerrors.FailedPrecondition
	case "AccessDenied", "Forbidden":
		return gcerrors.PermissionDenied
	case "PermanentRedirect", "MovedPermanently": // a bucket of another region
		return gcerrors.InvalidArgument
	}
	return gcerrors.Unknown
}

// noBucket is in the errors of S3 about a bucket that does not exist.
const noBucket = "NoSuchBucket"

// stays tells whether an error does not go away by waiting.
func stays(err error) bool {
	switch code(err) {
	case gcerrors.PermissionDenied, gcerrors.InvalidArgument, gcerrors.Unimplemented, gcerrors.Canceled:
		return true
	}
	return strings.Contains(err.Error(), noBucket) || strings.Contains(err.Error(), "failed to refresh cached credentials")
}

// Pack and Unpack make data smaller, and undo it.
func Pack(data []byte) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(data) // a buffer takes everything
	_ = w.Close()
	return packed.Bytes()
}

// Unpack is the data of Pack.
func Unpack(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// Upload copies the files of a directory, those of last after all others.
func (s *Store) Upload(ctx context.Context, dir string, last string) error {
	var files []string
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, file)
		}
		return err
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(files, func(a, b string) int {
		return boolean(filepath.Base(a) == last) - boolean(filepath.Base(b) == last)
	})
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		key, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		if err := s.Put(ctx, path.Clean(filepath.ToSlash(key)), data); err != nil {
			return err
		}
	}
	return nil
}

func boolean(is bool) int {
	if is {
		return 1
	}
	return 0
}

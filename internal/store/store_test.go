package store

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/stretchr/testify/require"
)

// server is an S3 server, whose answers mangle may replace.
func server(t *testing.T, mangle func(next http.Handler, w http.ResponseWriter, r *http.Request)) *Store {
	t.Setenv("AWS_ACCESS_KEY_ID", "tests")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secretly")
	backend := s3mem.New()
	require.NoError(t, backend.CreateBucket("nights"))
	next := gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { mangle(next, w, r) }))
	t.Cleanup(server.Close)
	return open(t, "s3://nights/a/b?region=us-east-1&use_path_style=true&endpoint="+url.QueryEscape(server.URL))
}

func asItIs(next http.Handler, w http.ResponseWriter, r *http.Request) { next.ServeHTTP(w, r) }

func open(t *testing.T, address string) *Store {
	s, err := Open(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	s.Pause, s.Patience = time.Millisecond, 3*time.Second
	return s
}

// both runs a test on both kinds of buckets that there are without a network.
func both(t *testing.T, test func(t *testing.T, s *Store)) {
	t.Run("s3", func(t *testing.T) { test(t, server(t, asItIs)) })
	t.Run("file", func(t *testing.T) { test(t, open(t, "file://"+filepath.Join(t.TempDir(), "new"))) })
}

func TestObjects(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		_, err := s.Get(ctx, "x/1")
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.NoError(t, s.Create(ctx, "x/1", []byte("one")))
		require.NoError(t, s.Create(ctx, "x/1", []byte("one")), "an earlier try came through")
		require.ErrorIs(t, s.Create(ctx, "x/1", []byte("other")), ErrTaken)
		require.NoError(t, s.Put(ctx, "x/2", []byte("two")))
		require.NoError(t, s.Put(ctx, "x/2", []byte("2")))
		require.NoError(t, s.Put(ctx, "y", nil))
		data, err := s.Get(ctx, "x/2")
		require.NoError(t, err)
		require.Equal(t, "2", string(data))
		var keys []string
		require.NoError(t, s.List(ctx, "x/", func(o Object) {
			require.False(t, o.Modified.IsZero())
			keys = append(keys, fmt.Sprint(o.Key, " ", o.Size))
		}))
		require.Equal(t, []string{"x/1 3", "x/2 1"}, keys)
		require.NoError(t, s.Delete(ctx, "x/2"))
		require.NoError(t, s.Delete(ctx, "x/2"))
		is, err := s.Exists(ctx, "x/2")
		require.NoError(t, err)
		require.False(t, is)
	})
}

// Of many that create an object at once, one does.
func TestOneWins(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		for round := range 5 {
			var wg sync.WaitGroup
			var won atomic.Int64
			for i := range 16 {
				wg.Go(func() {
					if s.Create(context.Background(), fmt.Sprint("claims/", round), []byte(fmt.Sprint(i))) == nil {
						won.Add(1)
					}
				})
			}
			wg.Wait()
			require.EqualValues(t, 1, won.Load())
		}
	})
}

// Whatever becomes of a request, it is done once, as long as the store comes back.
func TestComesBack(t *testing.T) {
	var n atomic.Int64
	s := server(t, func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		switch n.Add(1) % 5 {
		case 1:
			http.Error(w, "<Error><Code>SlowDown</Code></Error>", http.StatusServiceUnavailable)
		case 2:
			panic(http.ErrAbortHandler)
		case 3: // the answer is lost
			next.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		default:
			next.ServeHTTP(w, r)
		}
	})
	s.Patience = time.Minute
	for i := range 3 {
		require.NoError(t, s.Create(t.Context(), fmt.Sprint(i), []byte("mine")))
		require.ErrorIs(t, s.Create(t.Context(), fmt.Sprint(i), []byte("another's")), ErrTaken)
	}
}

// What a key or a request is called does not matter, although 301 is a status of HTTP, too.
func TestNamesDoNotMatter(t *testing.T) {
	var lost atomic.Int64
	s := server(t, func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		if lost.Add(-1) >= 0 {
			panic(http.ErrAbortHandler)
		}
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		maps.Copy(w.Header(), answer.Header())
		w.Header().Set("X-Amz-Request-Id", "B7301C")
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
	s.Patience = time.Minute
	const key = "claims/0000000301-1"
	require.NoError(t, s.Create(t.Context(), key, []byte("mine")))
	require.ErrorIs(t, s.Create(t.Context(), key, []byte("another's")), ErrTaken)
	lost.Store(3) // as often as the library tries a request
	is, err := s.Exists(t.Context(), key)
	require.NoError(t, err)
	require.True(t, is)
	is, err = s.Exists(t.Context(), key+"0")
	require.NoError(t, err)
	require.False(t, is)
}

// A store that stays full is trouble, which is told; what was there before is whole.
func TestFull(t *testing.T) {
	var full atomic.Bool
	s := server(t, func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		if full.Load() && r.Method == http.MethodPut {
			http.Error(w, "<Error><Code>XMinioStorageFull</Code><Message>no space</Message></Error>", http.StatusInsufficientStorage)
			return
		}
		next.ServeHTTP(w, r)
	})
	require.NoError(t, s.Put(t.Context(), "state", []byte("old")))
	full.Store(true)
	told := 0
	s.Trouble = func(error) { told++ }
	err := s.Put(t.Context(), "state", []byte("new"))
	require.True(t, Trouble(err))
	require.ErrorContains(t, err, "s3://nights/a/b/state: ")
	require.NotContains(t, err.Error(), "secretly")
	require.Positive(t, told)
	data, err := s.Get(t.Context(), "state")
	require.NoError(t, err)
	require.Equal(t, "old", string(data))
}

// What does not go away by waiting is told at once.
func TestStays(t *testing.T) {
	s := server(t, func(_ http.Handler, w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "<Error><Code>AccessDenied</Code></Error>", http.StatusForbidden)
	})
	s.Patience = time.Hour
	_, err := s.Get(t.Context(), "state")
	require.ErrorContains(t, err, "AccessDenied")
	require.False(t, Trouble(err))

	s = server(t, asItIs)
	s.Patience = time.Hour
	s.bucket = open(t, strings.Replace(s.URL, "nights", "days", 1)+"?region=us-east-1&use_path_style=true&endpoint=http://127.0.0.1:1").bucket
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.Error(t, s.Put(ctx, "x", nil)) // it does not wait for an hour
}

func TestUpload(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		dir := t.TempDir()
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "sub"), 0o777))
		for _, name := range []string{"a.state", "b.yaml", "sub/c"} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600))
		}
		require.NoError(t, s.Upload(t.Context(), dir, "a.state"))
		data, err := s.Get(t.Context(), "sub/c")
		require.NoError(t, err)
		require.Equal(t, "sub/c", string(data))
		is, err := s.Exists(t.Context(), "a.state")
		require.NoError(t, err)
		require.True(t, is)
	})
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"http://x/y":          `http://x/y: there are no buckets of "http": write one of s3://, gs://, azblob://, file://`,
		"s3:///y":             "s3:///y: which bucket? Write s3://BUCKET/PREFIX",
		"file://host/y":       "file://host/y: write file:///DIRECTORY, with the whole path",
		"s3://key:word@bucke": "s3://bucke: leave out what stands before @: credentials come from the environment",
		"s3://b?nonsense=1":   "nonsense",
	} {
		_, err := Open(t.Context(), address)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "word")
	}
}

func TestPack(t *testing.T) {
	data, err := Unpack(Pack([]byte("what there is")))
	require.NoError(t, err)
	require.Equal(t, "what there is", string(data))
	_, err = Unpack([]byte("what there is"))
	require.Error(t, err)
}

package realcluster

import (
	"context"
	"crypto/rand"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/preemptcheck/preemptcheck/internal/controlplane"
)

// Storage is object storage by the protocol of S3. What clients ask goes through a proxy, which can do
// to it what networks do.
type Storage struct {
	// Endpoint is the address for clients: "http://127.0.0.1:1234".
	Endpoint string
	// Key and Secret are the credentials.
	Key, Secret string

	binary  string
	address string // of the server itself
	server  program
	proxy   *http.Server
	trouble atomic.Pointer[Trouble]
	// Requests is how many have been asked; Troubled, how many of these the proxy has disturbed.
	Requests, Troubled atomic.Int64
}

// Trouble is what the way to the storage does to requests.
type Trouble struct {
	// Delay is added to each request.
	Delay time.Duration
	// Every Nth request is refused as by a server that is overloaded, reset before the server sees it, or
	// carried out while its answer is lost; 0 is none.
	RefuseEvery, ResetEvery, LoseAnswerEvery int64
}

// storageDir holds the directory of the bucket. It is there before the server starts: that notices changes by others after minutes only.
const (
	storageDir = Root + "/buckets"
	bucket     = "campaigns"
)

func startStorage(ctx context.Context, binary string) (*Storage, error) {
	s := &Storage{Key: rand.Text(), Secret: rand.Text(), binary: binary}
	ports, err := controlplane.FreePorts(1)
	if err != nil {
		return nil, err
	}
	s.address = "127.0.0.1:" + ports[0]
	if err := os.MkdirAll(filepath.Join(storageDir, bucket), 0o700); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.Endpoint = "http://" + listener.Addr().String()
	s.proxy = &http.Server{Handler: s.handler(), ErrorLog: log.New(discard{}, "", 0)}
	go func() { _ = s.proxy.Serve(listener) }()
	return s, s.Start(ctx)
}

// discard takes what a proxy says of connections that it was told to break.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// handler passes requests on as they are, signatures included.
func (s *Storage) handler() http.Handler {
	to := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: s.address})
			r.Out.Host = r.In.Host // it is signed
		},
		ErrorLog: log.New(discard{}, "", 0),
		// A server that does not answer is a connection that ends, and no answer of a proxy.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, trouble := s.Requests.Add(1), s.trouble.Load()
		every := func(nth int64) bool { return nth > 0 && n%nth == 0 }
		if trouble == nil {
			to.ServeHTTP(w, r)
			return
		}
		if trouble.Delay > 0 {
			s.Troubled.Add(1)
			time.Sleep(trouble.Delay)
		}
		switch {
		case every(trouble.RefuseEvery):
			s.Troubled.Add(1)
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>`)
		case every(trouble.ResetEvery):
			s.Troubled.Add(1)
			panic(http.ErrAbortHandler)
		case every(trouble.LoseAnswerEvery):
			s.Troubled.Add(1)
			to.ServeHTTP(lost{http.Header{}}, r)
			panic(http.ErrAbortHandler)
		default:
			to.ServeHTTP(w, r)
		}
	})
}

// lost is an answer that arrives nowhere.
type lost struct{ header http.Header }

func (l lost) Header() http.Header         { return l.header }
func (l lost) Write(p []byte) (int, error) { return len(p), nil }
func (l lost) WriteHeader(int)             {}

// Start starts the server if it does not run, and waits until it answers.
func (s *Storage) Start(ctx context.Context) (err error) {
	if s.server.Process == nil {
		s.server.Process, err = controlplane.Run(Root, "storage", s.binary, "serve", "s3", storageDir, "--addr", s.address, "--auth-key", s.Key+","+s.Secret,
			"--config", filepath.Join(Root, "rclone.conf"), "--cache-dir", filepath.Join(Root, "rclone"))
		if err != nil {
			return err
		}
	}
	err = poll(ctx, 30*time.Second, func() (bool, error) {
		answer, err := http.Get("http://" + s.address)
		if err == nil {
			answer.Body.Close()
		}
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("%w\n%s", err, s.server.LastWords())
	}
	return nil
}

// Kill ends the server at once. What it has stored stays.
func (s *Storage) Kill() { s.server.kill() }

// Pause has the server not answer, until Continue.
func (s *Storage) Pause() { s.server.Signal(syscall.SIGSTOP) }

// Continue has a paused server go on.
func (s *Storage) Continue() { s.server.Signal(syscall.SIGCONT) }

// Disturb disturbs requests from now on; nil is no trouble.
func (s *Storage) Disturb(t *Trouble) { s.trouble.Store(t) }

// URL is the address of what is kept under a name, as "preemptcheck fuzz --out" takes it.
func (s *Storage) URL(name string) string {
	return "s3://" + bucket + "/" + name + "?region=us-east-1&use_path_style=true&endpoint=" + url.QueryEscape(s.Endpoint)
}

// Files is the directory of what is kept under a name.
func (s *Storage) Files(name string) string { return filepath.Join(storageDir, bucket, name) }

// Environment are the variables of the credentials.
func (s *Storage) Environment() map[string]string {
	return map[string]string{"AWS_ACCESS_KEY_ID": s.Key, "AWS_SECRET_ACCESS_KEY": s.Secret}
}

func (s *Storage) stop() {
	s.server.kill()
	if s.proxy != nil {
		_ = s.proxy.Close()
	}
}

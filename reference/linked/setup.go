// Package linked is what all drivers of the kube-scheduler that is linked into the binary
// share: the globals of the process, its feature gates among them, and the
// configuration.
package linked

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference/bubble"
)

// Discard drops upstream's log lines: what it does is observed, not read.
var Discard = logr.Discard()

var once sync.Once

// Setup sets the globals of the process as the drivers need them. It is to be called
// before a scheduler is made.
func Setup() {
	// Upstream reports some conditions, such as a nominated node that is gone,
	// to handlers, the last of which sleeps (runtime.go:256@v0.37.1). The first,
	// which logs, stays.
	once.Do(func() {
		utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
		// For what upstream logs without the context of a call.
		klog.SetLoggerWithOptions(logr.New(tap{}), klog.ContextualLogger(true))
		// The workers of upstream's loops end the process when they panic. Here that
		// is the end of one scheduler only.
		utilruntime.ReallyCrash = false
		utilruntime.PanicHandlers = []func(context.Context, any){panicked}
		// A scheduler that is listened to ends, and not the process.
		exit := klog.OsExit
		klog.OsExit = func(code int) {
			if _, ok := listeners.Load(bubble.Current()); ok {
				panic(bubble.Exited(code))
			}
			exit(code)
		}
		// Package signal starts a goroutine when it is first used, which must not
		// happen in a bubble: the scheduler's cache debugger uses it.
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGUSR2)
		signal.Stop(c)
	})
}

type crashKey struct{}

// NewContext is a context for every call upstream: crash becomes what broke first, in
// whatever goroutine.
func NewContext(crash *atomic.Pointer[model.Crash]) context.Context {
	return context.WithValue(klog.NewContext(context.Background(), Discard), crashKey{}, crash)
}

// panicked is told of a panic in a worker. One that no scheduler is to blame for goes on.
func panicked(ctx context.Context, p any) {
	crash, ok := ctx.Value(crashKey{}).(*atomic.Pointer[model.Crash])
	if !ok {
		panic(p)
	}
	crash.CompareAndSwap(nil, bubble.Crashed(p, debug.Stack()))
}

// Listener is told of log lines, by their messages.
type Listener func(message string, keysAndValues []any)

// listeners are those who listen, by the bubble in which the line is logged.
var listeners sync.Map // of string to Listener

var listening atomic.Int32

// Listen calls l for each line that is logged in the bubble without the context of a
// call, until stop is called. It is the only way to see a goroutine that upstream starts
// with a context of its own (executor.go:203@v1.37.1, prepareCandidateAsync).
func Listen(b *bubble.Bubble, l Listener) (stop func()) {
	listeners.Store(b.ID(), l)
	listening.Add(1)
	return func() {
		listeners.Delete(b.ID())
		listening.Add(-1)
	}
}

// tap hands log lines to listeners.
type tap struct{}

func (tap) Init(logr.RuntimeInfo)            {}
func (tap) Enabled(level int) bool           { return level <= 2 && listening.Load() > 0 }
func (t tap) WithValues(...any) logr.LogSink { return t }
func (t tap) WithName(string) logr.LogSink   { return t }
func (tap) Error(error, string, ...any)      {}
func (tap) Info(_ int, msg string, kv ...any) {
	if l, ok := listeners.Load(bubble.Current()); ok {
		l.(Listener)(msg, kv)
	}
}

package terminal

import (
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// patience is how long work may take before somebody wants to know how far it is.
const patience = 2 * time.Second

// Unknown is the share that is done of work whose end nobody knows.
const Unknown = -1

// Progress shows how far long work is: what is done, what was found, and how long it will take.
// Nothing is shown of work that ends soon, and nothing where there is no terminal.
type Progress struct {
	mu          sync.Mutex
	w           io.Writer // nil if nothing is shown
	start, next time.Time
	bar         *progressbar.ProgressBar
}

// NewProgress is the progress of work that begins now.
func NewProgress(w io.Writer) *Progress {
	p := &Progress{start: time.Now()}
	if IsTerminal(w) {
		p.w, p.next = w, p.start.Add(patience)
	}
	return p
}

// parts is how many parts of a bar are told apart.
const parts = 10000

// Show shows which share of the work is done, from 0 to 1 or Unknown, and what is to be said of
// it. It may be called often, and from many goroutines.
func (p *Progress) Show(share float64, describe func() string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.w == nil || now.Before(p.next) {
		return
	}
	p.next = now.Add(time.Second / 5)
	if p.bar == nil {
		of := int64(parts)
		if share < 0 {
			of = -1
		}
		p.bar = progressbar.NewOptions64(of, progressbar.OptionSetWriter(p.w), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(20),
			progressbar.OptionSpinnerType(14), progressbar.OptionUseANSICodes(true), progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(false), progressbar.OptionSetRenderBlankState(false))
	}
	text := describe()
	if share >= 0 {
		text += p.left(share, now)
	}
	p.bar.Describe(text)
	switch {
	case share >= 0:
		_ = p.bar.Set(min(int(share*parts), parts-1)) // whole, it would be cleared
	case p.bar.GetMax() < 0:
		_ = p.bar.Add(1)
	}
}

// left says how long the rest will take, if it goes on as it went.
func (p *Progress) left(share float64, now time.Time) string {
	if share <= 0 {
		return ""
	}
	all := float64(now.Sub(p.start)) / share
	return ", " + (time.Duration(all) - now.Sub(p.start)).Round(time.Second).String() + " left"
}

// Watch shows what is going on, of work that does not tell how far it is, until stop is called.
func (p *Progress) Watch(what string) (stop func()) {
	if p.w == nil {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Second / 5)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				p.Show(Unknown, func() string { return what + ", " + time.Since(p.start).Round(time.Second).String() })
			}
		}
	}()
	return func() {
		close(done)
		<-ended
		p.Finish()
	}
}

// Above is w for lines that are told meanwhile: what is shown makes way for them.
func (p *Progress) Above(w io.Writer) io.Writer { return above{p, w} }

type above struct {
	p *Progress
	w io.Writer
}

func (a above) Write(data []byte) (int, error) {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	if a.p.bar != nil {
		_ = a.p.bar.Clear()
	}
	return a.w.Write(data)
}

// Finish removes what is shown.
func (p *Progress) Finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	p.w = nil
}

package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progress shows now and then how far long work is: in place on a terminal, else
// in a line every ten seconds.
type progress struct {
	w        io.Writer
	terminal bool
	next     time.Time
	every    time.Duration
}

func newProgress(w io.Writer) *progress {
	p := &progress{w: w, every: 10 * time.Second}
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			p.terminal, p.every = true, time.Second
		}
	}
	p.next = time.Now().Add(p.every)
	return p
}

func (p *progress) show(line func() string) {
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(p.every)
	if p.terminal {
		fmt.Fprintf(p.w, "\r\033[K%s", line())
	} else {
		fmt.Fprintln(p.w, line())
	}
}

// finish clears the line in place.
func (p *progress) finish() {
	if p.terminal {
		fmt.Fprint(p.w, "\r\033[K")
	}
}

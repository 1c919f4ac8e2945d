package lanes

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// The axis is in pixels.
const (
	left       = 14 // before the first moment
	slot       = 26 // between two moments
	perTenfold = 36 // more between two moments when ten times as much time goes by
	axisHeight = 44
	// instantGap is how far, in seconds, moments of different instants are apart at least: the scheduler's clock is told in milliseconds.
	instantGap = 0.0005
)

// axis is where the moments are: one after another, those of one instant of the scheduler's clock at equal
// distances, and others further apart by the logarithm of the time between them.
type axis struct {
	Ticks    []tick
	Instants []span // during which the clock stands still
	Gaps     []span // during which it goes on
	at       []float64
	x        []int
}

// tick is a time of the clock, and what of it is at that place: every instant has a line, and a text if there is room.
type tick struct {
	X    int
	Text string
}

// span is a part of the axis.
type span struct {
	X, W int
	Text string // how long a gap is; "" if there is no room for it
}

// Middle is where the text of a span is centred.
func (s span) Middle() int { return s.X + s.W/2 }

// End is where a span ends.
func (s span) End() int { return s.X + s.W }

// stretch is by how much more two moments are apart than those of one instant, by the seconds between them.
func stretch(seconds float64) int {
	if seconds < instantGap {
		return 0
	}
	return int(math.Round(perTenfold * math.Log10(1+seconds/0.001)))
}

// newAxis places moments, whose times are in seconds and in order.
func newAxis(at []float64) *axis {
	a := &axis{at: at, x: make([]int, len(at))}
	x, begun, free := left, left, 0
	for i, t := range at {
		gap := 0.0
		if i > 0 {
			gap = t - at[i-1]
			before := x
			x += slot + stretch(gap)
			if gap >= instantGap {
				a.Instants = append(a.Instants, span{X: begun, W: before - begun})
				a.gap(before, x, gap)
				begun = x
			}
		}
		if i == 0 || gap >= instantGap {
			text := clock(t)
			if x < free {
				text = ""
			} else {
				free = x + textWidth(text) + 8
			}
			a.Ticks = append(a.Ticks, tick{x, text})
		}
		a.x[i] = x
	}
	if len(at) > 0 {
		a.Instants = append(a.Instants, span{X: begun, W: x - begun})
	}
	return a
}

// gap adds the time between two instants.
func (a *axis) gap(from, to int, seconds float64) {
	s := span{X: from, W: to - from, Text: length(seconds)}
	if textWidth(s.Text) > s.W-4 {
		s.Text = ""
	}
	a.Gaps = append(a.Gaps, s)
}

// place is where something is that happens at a time, in seconds, after a moment and before the next one.
func (a *axis) place(moment int, at float64) int {
	if moment < 0 || len(a.x) == 0 {
		return left
	}
	x := a.x[moment]
	since := at - a.at[moment]
	if since < instantGap {
		return x
	}
	x += slot + stretch(since)
	if moment+1 < len(a.x) {
		x = min(x, a.x[moment+1])
	}
	return x
}

// textWidth is about how wide a text is.
func textWidth(text string) int { return 7 * utf8.RuneCountInString(text) }

// clock is a time of the scheduler's clock.
func clock(seconds float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", seconds), "0"), ".") + " s"
}

// length is how long a gap is, in the unit that suits it.
func length(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < 999500*time.Microsecond:
		return fmt.Sprintf("%d ms", d.Round(time.Millisecond)/time.Millisecond)
	case d < 100*time.Second:
		return fmt.Sprintf("%.3g s", d.Seconds())
	}
	d = d.Round(time.Second)
	text := fmt.Sprintf("%d min", d/time.Minute)
	if rest := d % time.Minute; rest > 0 {
		text += fmt.Sprintf(" %d s", rest/time.Second)
	}
	return text
}

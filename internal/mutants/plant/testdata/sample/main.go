// Command sample does one thing for each rule, and prints what comes of it.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/metrics"
	"sync"
	"time"
)

type table struct {
	sync.Mutex
	counts map[string]int
	told   []string
}

func (t *table) add(name string, n int) {
	t.Lock()
	defer t.Unlock()
	t.counts[name] += n
}

// first is the first number above a bound.
func first(numbers []int, bound int) (int, error) {
	for _, n := range numbers {
		if n < 0 {
			continue
		}
		if n > bound && n != 13 {
			return n, nil
		}
		if n == 13 ||
			n == 17 { // a condition of two lines
			break
		}
	}
	return 0, errors.New("none")
}

func scale(a, b float64) float64 { return (a - b) * 2 / (a + b) }

func wait() time.Duration { return 5 * time.Millisecond }

func either(ok bool) bool { return ok || !ok && len(os.Args) >= 2 }

func last(a, b string) string { return a + b }

func ordered() (out string) {
	defer func() { out += "!" }()
	x, y := "x", "y"
	return last(x, y)
}

func main() {
	t := &table{counts: map[string]int{}}
	for i := 0; i < 3; i++ {
		t.add("a", i)
	}
	t.told = append(t.told, "told")
	fmt.Println(t.counts["a"], len(t.counts), t.told)
	fmt.Println(first([]int{-1, 3, 5, 9}, 5))
	fmt.Println(first([]int{6}, 5))
	fmt.Println(first([]int{1, 13, 20}, 5))
	fmt.Println(first([]int{1, 17, 20}, 5))
	fmt.Println(scale(3, 1), wait(), either(true), either(false), ordered())
	switch n := t.counts["a"]; {
	case n > 2 && n < 4:
		fmt.Println("three")
	default:
		fmt.Println("other")
	}
	if locked := t.TryLock(); !locked {
		fmt.Println("locked")
	} else {
		t.Unlock()
	}
	fmt.Println(t.size(2), t.size(3))
	fmt.Println(t.take("a"), t.take("b"))
	fmt.Println(hint(1))
	fmt.Println(hint(-1))
	fmt.Println(beside(2))
	fmt.Println(beside(2))
}

// beside counts in a function that counts for metrics, too, and then in one that does nothing else.
func beside(n int) (counted int) {
	defer func() { metrics.All() }()
	func() {
		metrics.All()
		if n != 0 {
			counted = n
		}
	}()
	return counted
}

func (t *table) size(least int) int {
	if least > 2 {
		t.Lock()
		defer t.Unlock()
	}
	return len(t.counts)
}

// take gives its lock back before it returns.
func (t *table) take(name string) bool {
	t.Lock()
	if t.counts[name] == 0 {
		t.Unlock()
		return false
	}
	t.counts[name]--
	t.Unlock()
	return true
}

type verdict int

const (
	skip verdict = iota
	queue
)

func hint(n int) (verdict, error) {
	if n < 0 {
		return queue, errors.New("negative")
	}
	if n == 0 {
		return skip, nil
	}
	return queue, nil
}

// Package testsize lets the caller of "go test" choose how many generated
// clusters the tests look at. Everyday tests look at the same ones each time.
package testsize

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"testing"

	_ "pgregory.net/rapid" // for its flags
)

// Like the workers of a campaign, tests make much garbage and keep little memory.
func init() { debug.SetGCPercent(400) }

// Whoever wants other clusters than last time asks for more of them, or for -rapid.seed=0.
func init() {
	if os.Getenv(Variable) == "" {
		if err := flag.Set("rapid.seed", "1"); err != nil {
			panic(err)
		}
	}
}

// Variable is the environment variable that multiplies the number of generated
// clusters: PREEMPTCHECK_TIMES=10 go test ./...
const Variable = "PREEMPTCHECK_TIMES"

// Times is n, the number of clusters for everyday use, times the number that
// Variable holds; with -short it is a fifth of that, but at least 1. It panics if
// Variable holds no positive whole number.
func Times(n int) int {
	times := 1
	if text := os.Getenv(Variable); text != "" {
		var err error
		if times, err = strconv.Atoi(text); err != nil || times < 1 {
			panic(fmt.Sprintf("%s=%q: it takes a positive whole number", Variable, text))
		}
	}
	if testing.Short() {
		return max(1, n*times/5)
	}
	return n * times
}

// Package patience tells how long a scheduler may show no progress until it counts as at a standstill.
package patience

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

type key struct{}

// With is a context in which a scheduler that shows no progress for so long is at a
// standstill: less than usual, where it is known to be, as each try costs that much.
func With(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, key{}, d)
}

// Of is that of a context, and the usual one where it says nothing.
func Of(ctx context.Context, usual time.Duration) time.Duration {
	if d, ok := ctx.Value(key{}).(time.Duration); ok && d > 0 {
		return min(d, usual)
	}
	return usual
}

// Raced tells whether this program was built with the race detector.
var Raced = sync.OnceValue(func() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
})

// slowdown is how many times longer all takes with the race detector: "execution time by 2-20x" (https://go.dev/doc/articles/race_detector),
// and each timeline is run twice.
const slowdown = 20

// ForAll is how long something may take for which d is enough without the race detector.
func ForAll(d time.Duration) time.Duration {
	if Raced() {
		return slowdown * d
	}
	return d
}

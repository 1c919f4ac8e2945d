package reference

import (
	"context"
	"time"
)

type patienceKey struct{}

// WithPatience is a context in which a scheduler that shows no progress for so long is at a
// standstill: less than usual, where it is known to be, as each try costs that much.
func WithPatience(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, patienceKey{}, d)
}

// Patience is that of a context, and the usual one where it says nothing.
func Patience(ctx context.Context, usual time.Duration) time.Duration {
	if d, ok := ctx.Value(patienceKey{}).(time.Duration); ok && d > 0 {
		return min(d, usual)
	}
	return usual
}

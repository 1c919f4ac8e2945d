// Package patience tells how long a scheduler may show no progress until it counts as at a standstill.
package patience

import (
	"context"
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

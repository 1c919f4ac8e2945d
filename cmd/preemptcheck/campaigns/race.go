//go:build race

package campaigns

import "github.com/preemptcheck/preemptcheck/reference/atonce"

// processors is how many goroutines of a worker run at once. With one they take turns, and what the harness notes at the end of a turn
// puts it before the next one, so that the race detector is silent.
const processors = "4"

// atOnce does what goroutines of the scheduler may do at one instant.
func atOnce() error { return atonce.All() }

//go:build race

package campaigns

// processors is how many goroutines of a worker run at once. With one they take turns, and what the harness notes at the end of a turn
// puts it before the next one, so that the race detector is silent.
const processors = "4"

// Package scheduler stands for the scheduler.
package scheduler

// Name tells that it is linked in.
const Name = "fake scheduler"

// Package api stands for a staging module.
package api

// Name tells that it is linked in.
const Name = "fake api"

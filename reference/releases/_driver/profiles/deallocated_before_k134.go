//go:build !k1.34

package main

import clienttesting "k8s.io/client-go/testing"

// Dynamic resource allocation was off by default.
func deallocated(clienttesting.Action) string { return "" }

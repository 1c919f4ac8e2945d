//go:build !k1.34

package main

import "k8s.io/apimachinery/pkg/runtime"

// Dynamic resource allocation was off by default, and its API another.
var watchedToo []runtime.Object

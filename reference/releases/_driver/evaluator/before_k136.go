//go:build !k1.36

package main

import "k8s.io/apimachinery/pkg/runtime"

var watchedLater []runtime.Object

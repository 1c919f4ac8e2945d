package main

import (
	"io"

	"k8s.io/klog/v2"
)

// quiet drops what upstream logs.
func quiet() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
}

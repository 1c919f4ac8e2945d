package main

import (
	"flag"
	"io"

	"k8s.io/klog/v2"
)

// quiet drops what upstream logs.
func quiet() {
	flags := flag.NewFlagSet("", flag.PanicOnError)
	klog.InitFlags(flags)
	_ = flags.Set("logtostderr", "false")
	_ = flags.Set("stderrthreshold", "FATAL")
	klog.SetOutput(io.Discard)
}

//go:build k1.27

package main

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

func onAdd(h cache.ResourceEventHandler, obj runtime.Object) { h.OnAdd(obj, false) }

//go:build !k1.26

package main

import "k8s.io/client-go/tools/cache"

func (i *informer) AddEventHandler(h cache.ResourceEventHandler) {
	i.handlers = append(i.handlers, h)
	i.SharedIndexInformer.AddEventHandler(h)
}

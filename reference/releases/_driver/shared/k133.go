//go:build k1.33

package main

import "k8s.io/client-go/tools/cache"

// AddEventHandlerWithOptions is called by typed informers.
func (i *informer) AddEventHandlerWithOptions(h cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

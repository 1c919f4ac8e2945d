//go:build k1.36 && !k1.37

package main

import (
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	"k8s.io/apimachinery/pkg/runtime"
)

var watchedLater = []runtime.Object{&schedulingv1alpha2.PodGroup{}}

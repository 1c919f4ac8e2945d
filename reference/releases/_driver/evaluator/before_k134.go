//go:build !k1.34

package main

import (
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Types of plugins, which moved in 1.34, as others did in 1.35.
type (
	nodeInfo   = *framework.NodeInfo
	cycleState = *framework.CycleState
	status     = framework.Status
	code       = framework.Code
)

const unresolvable = framework.UnschedulableAndUnresolvable

func asStatus(err error) *status { return framework.AsStatus(err) }

// Dynamic resource allocation was off by default, and its API another.

var watchedToo = []runtime.Object{&storagev1.CSINode{}, &storagev1.CSIDriver{}, &storagev1.CSIStorageCapacity{}}

func deallocated(clienttesting.Action) string { return "" }

//go:build !k1.32

package main

import "k8s.io/kubernetes/pkg/scheduler/framework"

type nodeInfoLister = framework.NodeInfoLister

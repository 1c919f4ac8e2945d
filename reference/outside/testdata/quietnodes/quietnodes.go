// Package quietnodes is a plugin that keeps loud pods apart: a node runs at most as many with the label loud=yes as the label quiet of
// the pod that comes says. It stands for a plugin of somebody's own, in each minor release: the build tags are those that a driver is built with.
package quietnodes

import (
	"errors"
	"math"
	"strconv"

	v1 "k8s.io/api/core/v1"
)

// Name is that of the plugin.
const Name = "QuietNodes"

// plugin has no state of its own.
type plugin struct{ handle handle }

func (plugin) Name() string { return Name }

const stateKey = Name

var errNoState = errors.New("PreFilter was not called")

// counts are the loud pods of each node, as PreFilter and its extensions see them.
type counts struct {
	most int
	loud map[string]int
}

func (c *counts) copied() *counts {
	again := &counts{most: c.most, loud: make(map[string]int, len(c.loud))}
	for node, n := range c.loud {
		again.loud[node] = n
	}
	return again
}

func isLoud(p *v1.Pod) bool { return p.Labels["loud"] == "yes" }

// most is how many loud pods a pod puts up with: any number if it says nothing.
func most(p *v1.Pod) int {
	n, err := strconv.Atoi(p.Labels["quiet"])
	if err != nil {
		return math.MaxInt
	}
	return n
}

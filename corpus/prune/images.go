package prune

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
)

// imagesInUse leaves nodes the images that a waiting pod needs: a node is ranked by those.
func imagesInUse(c *model.Cluster) {
	used := map[string]bool{}
	pods := c.Pods
	if c.Preemptor != nil {
		pods = append(slices.Clip(pods), c.Preemptor)
	}
	for _, p := range pods {
		if p.Spec.NodeName != "" {
			continue
		}
		for _, list := range [][]v1.Container{p.Spec.InitContainers, p.Spec.Containers} {
			for i := range list {
				used[NormalImage(list[i].Image)] = true
			}
		}
		for _, v := range p.Spec.Volumes {
			if v.Image != nil {
				used[NormalImage(v.Image.Reference)] = true
			}
		}
	}
	for _, n := range c.Nodes {
		images := &n.Status.Images
		for i := range *images {
			names := &(*images)[i].Names
			*names = slices.DeleteFunc(*names, func(name string) bool { return !used[NormalImage(name)] })
		}
		*images = nonEmpty(slices.DeleteFunc(*images, func(i v1.ContainerImage) bool { return len(i.Names) == 0 }))
	}
}

// NormalImage is the name of an image with the tag that it has without one
// (image_locality.go:149@v1.37.1, doc comment of normalizedImageName).
func NormalImage(name string) string {
	if strings.LastIndex(name, ":") <= strings.LastIndex(name, "/") {
		return name + ":latest"
	}
	return name
}

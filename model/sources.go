package model

import "embed"

// LifeSources are what the drivers that run timelines compile of this package, and of those
// below it.
//
//go:embed cluster.go observation.go settings.go configured.go observation timeline
var LifeSources embed.FS

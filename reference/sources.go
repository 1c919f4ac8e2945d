package reference

import "embed"

// LifeSources are what the drivers of other releases that run timelines compile: the packages
// which do so for the linked release, edited for what theirs calls otherwise.
//
//go:embed errors.go patience life linked bubble
var LifeSources embed.FS

// CallsSources are what the drivers of plugins compile that ask them one by one, besides some of LifeSources.
//
//go:embed standstill.go contract
var CallsSources embed.FS

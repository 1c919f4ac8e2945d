package observation

import _ "embed"

// Source is the text of observation.go, for the drivers of other releases.
//
//go:embed observation.go
var Source []byte

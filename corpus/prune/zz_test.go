package prune

import "testing"

func TestX(t *testing.T) { t.Log(len(trees)) }

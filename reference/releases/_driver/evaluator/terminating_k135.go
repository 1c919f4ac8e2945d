//go:build k1.35

package main

const deletesTerminating = false

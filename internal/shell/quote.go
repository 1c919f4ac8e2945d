// Package shell writes command lines for people to paste.
package shell

import (
	"regexp"
	"strings"
)

var plain = regexp.MustCompile(`^[-\w./@:+,=%]+$`)

// Quote is the word as a shell reads it.
func Quote(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Package browser holds the tests of the pages in a real Chromium: make browser runs them.
package browser

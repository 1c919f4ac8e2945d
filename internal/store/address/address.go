// Package address takes addresses of buckets, and of what is in them, apart: SCHEME://BUCKET/PREFIX?OPTIONS.
package address

import (
	"path/filepath"
	"strings"
)

// IsBucket tells whether a name is the URL of a bucket, and not a path.
func IsBucket(name string) bool { return strings.Contains(name, "://") }

// Cut divides an address into its name and its options, which begin with "?" if there are some.
func Cut(address string) (name, options string) {
	if i := strings.Index(address, "?"); i >= 0 {
		return address[:i], address[i:]
	}
	return address, ""
}

// Join is the address of what has a key in a bucket, or the path of a file in a directory.
func Join(where, key string) string {
	if !IsBucket(where) {
		return filepath.Join(where, key)
	}
	name, options := Cut(where)
	return strings.TrimSuffix(name, "/") + "/" + key + options
}

package live

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/preemptcheck/preemptcheck/model/release"
)

// released is how the version of a server begins, whatever a vendor adds: "v1.35.2-eks-1234",
// "v1.37.1+k3s1".
var released = regexp.MustCompile(`^v1\.[0-9]+\.[0-9]+`)

// Nearest is the release of all that is the nearest to the version of a server: of the same minor
// release if there is one, with the nearest patch, the older one if two are as near; else of the
// nearest minor release, likewise, with its last patch. ok is false if the version is none of Kubernetes.
// exact tells whether it is that of the server.
func Nearest(version string, all []release.Release) (nearest release.Release, exact, ok bool) {
	server, err := release.Parse(released.FindString(version))
	if err != nil || len(all) == 0 {
		return nearest, false, false
	}
	nearest = slices.MinFunc(all, func(a, b release.Release) int {
		byMinor := cmp.Or(cmp.Compare(abs(a.Minor-server.Minor), abs(b.Minor-server.Minor)), cmp.Compare(a.Minor, b.Minor))
		if byMinor != 0 || a.Minor != server.Minor {
			return cmp.Or(byMinor, cmp.Compare(b.Patch, a.Patch))
		}
		return cmp.Or(cmp.Compare(abs(a.Patch-server.Patch), abs(b.Patch-server.Patch)), cmp.Compare(a.Patch, b.Patch))
	})
	return nearest, nearest == server, true
}

func abs(n int) int { return max(n, -n) }

package generators

// Most clusters have few features, at fixed chances, so that what is common in
// practice is common here. Of 25 features each on in one cluster of ten, two
// meet in one of a hundred, and then the rest is off. A share of the clusters is
// therefore drawn as in swarm testing: for each feature a chance of its own,
// from never to nearly always, and for all that is drawn after them odds that are far
// from the usual.

// flags draws whether features are on.
type flags struct {
	source
	wild bool
}

// chance is the usual one, or in a wild cluster any.
func (f flags) chance(percent int) bool {
	if !f.wild {
		return f.source.chance(percent)
	}
	return f.source.chance(pick(f.source, 0, 10, 50, 90, 25))
}

// skewed makes rare things common, or common things rarer.
type skewed struct {
	source
	times, over int
}

func (s skewed) chance(percent int) bool {
	if percent <= 0 || percent >= 100 {
		return s.source.chance(percent)
	}
	return s.source.chance(min(max(percent*s.times/s.over, 1), 97))
}

// skew gives a wild cluster its odds.
func skew(s source) source {
	switch weighted(s, 50, 20, 30) {
	case 1:
		return skewed{s, 5, 2}
	case 2:
		return skewed{s, 2, 5}
	default:
		return s
	}
}

package properties

import "slices"

// needed leaves out of a list that is enough what it takes not, in halves first,
// as mostly one or two are needed of many. What is left is enough, and would not be
// without any one of its parts, provided that no more of the list is never worse.
func needed[T any](all []T, enough func([]T) (bool, error)) ([]T, error) {
	for size := (len(all) + 1) / 2; size > 0; size /= 2 {
		for i := 0; i < len(all); {
			fewer := slices.Delete(slices.Clone(all), i, min(i+size, len(all)))
			ok, err := enough(fewer)
			if err != nil {
				return nil, err
			}
			if ok {
				all = fewer
			} else {
				i += size
			}
		}
	}
	return all, nil
}

package properties

// About is what tells findings of one property at one place apart.
func (f *Finding) About() string { return f.about }

// FilterCounts are what FiltersAlone counted.
func (s *Subject) FilterCounts() map[string]FilterCount { return s.filters }

// PromisedBy is promisedBy.
var PromisedBy = promisedBy

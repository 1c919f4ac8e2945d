package timeline

import "context"

type tellingKey struct{}

// Telling is a context in which what runs a timeline tells all entries and startups as they come,
// each as a trace of its own: the process that runs it may not live to give the whole trace.
func Telling(ctx context.Context, told func(part *Trace)) context.Context {
	return context.WithValue(ctx, tellingKey{}, told)
}

// Teller is who is to be told in a context: a function that does nothing if there is nobody.
func Teller(ctx context.Context) func(part *Trace) {
	if told, ok := ctx.Value(tellingKey{}).(func(*Trace)); ok {
		return told
	}
	return func(*Trace) {}
}

// Add adds what was told to a trace.
func (t *Trace) Add(part *Trace) {
	t.Entries = append(t.Entries, part.Entries...)
	t.Startups = append(t.Startups, part.Startups...)
	t.Courses = append(t.Courses, part.Courses...)
}

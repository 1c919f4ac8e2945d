package arrivals

// Then says what comes of the pods that go.
func (g *Going) Then() string { return g.then() }

// Where is the node of a pod, or those of a group, or that it stays pending.
func (c *Cycle) Where() string { return c.where() }

// Because is why it goes there, or stays pending.
func (c *Cycle) Because() string { return c.because() }

// IsPending tells whether it stays pending.
func (c *Cycle) IsPending() bool { return c.isPending() }

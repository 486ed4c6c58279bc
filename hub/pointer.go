package hub

// Value returns what p points to. A nil pointer, which is null on the wire, stands for the zero value.
func Value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

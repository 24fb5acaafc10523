package interaction

// sum is what adds up over rows.
type sum[T any] interface {
	add(T)
	clear()
}

// carry adds up the sums of chunks as a binary counter does: two of one chunk each, then
// two of two, so that the parentheses depend on the chunks' numbers alone. Shards that
// begin at multiples of a power of two of chunks come out the same, added up.
type carry[T sum[T]] struct {
	stack  []T
	chunks int
	free   []T // cleared, to be used again
}

// push adds the sums of the next chunk.
func (c *carry[T]) push(next T) {
	for n := c.chunks; n&1 == 1; n >>= 1 {
		last := len(c.stack) - 1
		c.stack[last].add(next)
		next.clear()
		c.free = append(c.free, next)
		next, c.stack = c.stack[last], c.stack[:last]
	}
	c.stack = append(c.stack, next)
	c.chunks++
}

// total is the sum of all chunks; false without any. The counter is used up.
func (c *carry[T]) total() (t T, ok bool) {
	if len(c.stack) == 0 {
		return t, false
	}
	t = c.stack[len(c.stack)-1]
	for i := len(c.stack) - 2; i >= 0; i-- {
		c.stack[i].add(t)
		t = c.stack[i]
	}
	c.stack, c.free = nil, nil
	return t, true
}

// spare is cleared memory, if there is some.
func (c *carry[T]) spare() (t T, ok bool) {
	if len(c.free) == 0 {
		return t, false
	}
	t = c.free[len(c.free)-1]
	c.free = c.free[:len(c.free)-1]
	return t, true
}

package operator

import "github.com/pho-go/pho/internal/kernel"

// step moves state and memory of all rows one step on. gates holds the inputs' part of
// the step.
func (c *cell[T]) step(s *sequences[T], gates []T, t int) {
	switch c.kind {
	case simpleCell:
		c.simple(s, gates, t)
	case gatedCell:
		c.gated(s, gates, t)
	default:
		c.memorise(s, gates, t)
	}
}

// bound clips what enters an activation.
func (c *cell[T]) bound(v []T) {
	if c.clip <= 0 {
		return
	}
	limit := T(c.clip)
	for i, x := range v {
		v[i] = min(max(x, -limit), limit)
	}
}

// through applies the clip and activation number k.
func (c *cell[T]) through(k int, v []T) {
	c.bound(v)
	c.act[k](v, v)
}

// simple is H = f(X W' + H R' + b).
func (c *cell[T]) simple(s *sequences[T], gates []T, t int) {
	h := c.hidden
	c.state.Mul(s.recurrent, h, s.state, h, s.rows, nil)
	kernel.Add(gates, gates, s.recurrent)
	c.through(0, gates)
	for row := range s.rows {
		if !s.over(row, t) {
			copy(s.state[row*h:(row+1)*h], gates[row*h:])
		}
	}
}

// gated is the GRU: with the gates z, r = f(X W' + H R' + b),
//
//	~H = g(X Wh' + (r H) Rh' + b), or g(X Wh' + bw + r (H Rh' + br)) with resetAfter
//	H  = (1 - z) ~H + z H
func (c *cell[T]) gated(s *sequences[T], gates []T, t int) {
	h, wide := c.hidden, 3*c.hidden
	c.state.Mul(s.recurrent, wide, s.state, h, s.rows, c.stateBias)
	for row := range s.rows {
		g, own := gates[row*wide:(row+1)*wide], s.recurrent[row*wide:(row+1)*wide]
		kernel.Add(g[:2*h], g[:2*h], own[:2*h])
		c.through(0, g[:2*h])
		if c.resetAfter {
			kernel.Mul(own[2*h:], own[2*h:], g[h:2*h])
		} else {
			kernel.Mul(s.spare[row*h:(row+1)*h], s.state[row*h:(row+1)*h], g[h:2*h])
		}
	}
	if !c.resetAfter {
		c.candidate.Mul(s.recurrent[2*h:], wide, s.spare, h, s.rows, nil)
	}
	for row := range s.rows {
		if s.over(row, t) {
			continue
		}
		g, own, state := gates[row*wide:(row+1)*wide], s.recurrent[row*wide:(row+1)*wide], s.state[row*h:(row+1)*h]
		z, candidate := g[:h], g[2*h:]
		kernel.Add(candidate, candidate, own[2*h:])
		c.through(1, candidate)
		for i, v := range candidate {
			state[i] = T((1-z[i])*v) + T(z[i]*state[i])
		}
	}
}

// memorise is the LSTM: with i, f = f(X W' + H R' + P C + b) and ~C = g(X W' + H R' + b),
//
//	C = f C + i ~C;  o = f(X W' + H R' + P C + b);  H = o h(C)
func (c *cell[T]) memorise(s *sequences[T], gates []T, t int) {
	h, wide := c.hidden, 4*c.hidden
	c.state.Mul(s.recurrent, wide, s.state, h, s.rows, nil)
	kernel.Add(gates, gates, s.recurrent)
	for row := range s.rows {
		if s.over(row, t) {
			continue
		}
		g, memory := gates[row*wide:(row+1)*wide], s.memory[row*h:(row+1)*h]
		in, out, forget, candidate := g[:h], g[h:2*h], g[2*h:3*h], g[3*h:]
		if c.peepholes != nil {
			addProduct(in, c.peepholes[:h], memory)
			addProduct(forget, c.peepholes[2*h:], memory)
		}
		switch {
		case c.peepholes == nil && !c.coupled:
			c.through(0, g[:3*h])
		case c.coupled:
			c.through(0, in)
			for i, v := range in {
				forget[i] = 1 - v
			}
		default:
			c.through(0, in)
			c.through(0, forget)
		}
		c.through(1, candidate)
		for i, v := range candidate {
			memory[i] = T(forget[i]*memory[i]) + T(in[i]*v)
		}
		if c.peepholes != nil {
			addProduct(out, c.peepholes[h:2*h], memory)
		}
		if c.peepholes != nil || c.coupled {
			c.through(0, out)
		}
		c.act[2](candidate, memory)
		kernel.Mul(s.state[row*h:(row+1)*h], out, candidate)
	}
}

// addProduct is dst += a b, element by element.
func addProduct[T kernel.Float](dst, a, b []T) {
	for i := range dst {
		dst[i] += T(a[i] * b[i])
	}
}

package operator

import "github.com/pho-go/pho/internal/base/kernel"

// step moves state and memory of all rows over step t, which is step at of the chunk.
func (c *cell[T]) step(s *sequences[T], at, t int) {
	switch c.kind {
	case simpleCell:
		c.simple(s, at, t)
	case gatedCell:
		c.gated(s, at, t)
	default:
		c.memorise(s, at, t)
	}
}

// through applies the clip and activation number k.
func (c *cell[T]) through(k int, v []T) {
	if c.clip > 0 {
		limit := T(c.clip)
		for i, x := range v {
			v[i] = min(max(x, -limit), limit)
		}
	}
	c.act[k](v, v)
}

// addState adds from R' to the gates of part k.
func (c *cell[T]) addState(s *sequences[T], k int, gates, from []T) {
	p := c.parts[k]
	if c.bytes {
		from = c.quantiseState(s, from)
	}
	p.state.Mul(s.recurrent[k], p.width, from, c.hidden, s.rows, nil)
	if c.bytes {
		rescale(s.recurrent[k], s.bytes.stateScales, p.stateScale, nil)
	}
	kernel.Add(gates, gates, s.recurrent[k])
}

// simple is H = f(X W' + H R' + b).
func (c *cell[T]) simple(s *sequences[T], at, t int) {
	h, gates := c.hidden, c.gatesAt(s, 0, at)
	c.addState(s, 0, gates, s.state)
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
func (c *cell[T]) gated(s *sequences[T], at, t int) {
	h, gates, candidate := c.hidden, c.gatesAt(s, 0, at), c.gatesAt(s, 1, at)
	c.addState(s, 0, gates, s.state)
	c.through(0, gates)
	reset := func(v, by []T) {
		for row := range s.rows {
			kernel.Mul(v[row*h:(row+1)*h], by[row*h:(row+1)*h], gates[(2*row+1)*h:(2*row+2)*h])
		}
	}
	if c.resetAfter {
		own := s.recurrent[1]
		c.parts[1].state.Mul(own, h, s.state, h, s.rows, c.parts[1].stateBias)
		reset(own, own)
		kernel.Add(candidate, candidate, own)
	} else {
		reset(s.spare, s.state)
		c.addState(s, 1, candidate, s.spare)
	}
	c.through(1, candidate)
	for row := range s.rows {
		if s.over(row, t) {
			continue
		}
		z, state := gates[2*row*h:(2*row+1)*h], s.state[row*h:(row+1)*h]
		for i, v := range candidate[row*h : (row+1)*h] {
			state[i] = T((1-z[i])*v) + T(z[i]*state[i])
		}
	}
}

// memorise is the LSTM: with i, f = f(X W' + H R' + P C + b) and ~C = g(X W' + H R' + b),
//
//	C = f C + i ~C;  o = f(X W' + H R' + P C + b);  H = o h(C)
func (c *cell[T]) memorise(s *sequences[T], at, t int) {
	h, gates, candidate := c.hidden, c.gatesAt(s, 0, at), c.gatesAt(s, 1, at)
	c.addState(s, 0, gates, s.state)
	c.addState(s, 1, candidate, s.state)
	c.through(1, candidate)
	apart := c.peepholes != nil || c.coupled // i, f and o are then no matter of one pass
	if !apart {
		c.through(0, gates)
	}
	for row := range s.rows {
		if s.over(row, t) {
			continue
		}
		g, memory := gates[3*row*h:(3*row+3)*h], s.memory[row*h:(row+1)*h]
		in, out, forget := g[:h], g[h:2*h], g[2*h:]
		if apart {
			c.openGates(in, forget, memory)
		}
		for i, v := range candidate[row*h : (row+1)*h] {
			memory[i] = T(forget[i]*memory[i]) + T(in[i]*v)
		}
		if c.peepholes != nil {
			addProduct(out, c.peepholes[h:2*h], memory)
		}
		if apart {
			c.through(0, out)
		}
	}
	c.act[2](s.spare, s.memory)
	for row := range s.rows {
		if !s.over(row, t) {
			kernel.Mul(s.state[row*h:(row+1)*h], gates[(3*row+1)*h:(3*row+2)*h], s.spare[row*h:(row+1)*h])
		}
	}
}

// openGates applies the peepholes and activations of i and f, where f may be 1 - i.
func (c *cell[T]) openGates(in, forget, memory []T) {
	h := c.hidden
	if c.peepholes != nil {
		addProduct(in, c.peepholes[:h], memory)
		addProduct(forget, c.peepholes[2*h:], memory)
	}
	c.through(0, in)
	if !c.coupled {
		c.through(0, forget)
		return
	}
	for i, v := range in {
		forget[i] = 1 - v
	}
}

// addProduct is dst += a b, element by element.
func addProduct[T kernel.Float](dst, a, b []T) {
	for i := range dst {
		dst[i] += T(a[i] * b[i])
	}
}

package moments

import "github.com/pho-go/pho/internal/base/wire"

// AppendTo appends s to b: the sums, to the bit.
func (s *Scatter) AppendTo(b []byte) []byte {
	b = wire.AppendNumbers(wire.AppendFloat(b, s.total), s.sum)
	for a := range s.own {
		own := &s.own[a]
		b = wire.AppendInt(b, own.width)
		own.each(func(i, from int, row []float64) { b = wire.AppendNumbers(b, row[i-from:]) })
	}
	for i := range s.cross {
		r := &s.cross[i]
		r.turn(false)
		b = wire.AppendBool(b, r.data != nil)
		b = wire.AppendNumbers(b, r.data)
	}
	b = wire.AppendNumbers(wire.AppendNumbers(b, s.totals), s.sums)
	for i := range s.again {
		r := &s.again[i]
		r.turn(false)
		b = wire.AppendBool(b, r.data != nil)
		b = wire.AppendNumbers(b, r.data)
	}
	return b
}

// ReadScatter reads what AppendTo wrote of sums of a shape (Frame.Shape).
func ReadScatter(raw []byte, shape Shape) (*Scatter, error) {
	r, s := wire.NewReader(raw), &Scatter{shape: shape}
	joined := shape.Joined
	numbers := func(n int) []float64 {
		if n > r.Left()/8 {
			r.Fail("%d numbers are cut short", n)
			return nil
		}
		v := make([]float64, n)
		r.Numbers(v)
		return v
	}
	s.total = r.Float()
	p := 0
	for _, d := range joined {
		if d < 1 || d > r.Left()/8 {
			r.Fail("%d columns", d)
			return nil, r.Err()
		}
		p += d
	}
	s.sum = numbers(p)
	for _, n := range joined {
		own := band{n: n}
		width := r.AtMost(n)
		if width < n && 2*width > n || n*width-width*(width-1)/2 > r.Left()/8 {
			r.Fail("a band of %d of %d columns", width, n)
		}
		if r.Err() == nil {
			own.widen(width)
			own.each(func(i, from int, row []float64) {
				upper := row[i-from:]
				r.Numbers(upper)
				for l, v := range upper {
					own.data[own.first()+(i+l)*own.stride()+i] = v
				}
			})
		}
		s.own = append(s.own, own)
	}
	for a, rows := range joined {
		for _, cols := range joined[a+1:] {
			c := oblong{rows: rows, cols: cols}
			if r.Bool() {
				c.data = numbers(rows * cols)
			}
			s.cross = append(s.cross, c)
		}
	}
	if len(shape.Copies) == 0 {
		return s, r.Done()
	}
	for _, c := range shape.Copies {
		if c[0] < 1 || c[0] > len(shape.Copies) || c[1] < 1 || c[1] > r.Left()/8 {
			r.Fail("%d columns of factor %d", c[1], c[0])
			return nil, r.Err()
		}
		p += c[1]
	}
	n := shape.factors()
	s.totals = numbers(Pair(0, n))
	if n > r.Left()/8/p {
		r.Fail("%d factors", n)
		return nil, r.Err()
	}
	s.sums = numbers(p * n)
	for k, copied := range shape.Copies {
		for _, rows := range shape.upTo(k) {
			c := oblong{rows: rows, cols: copied[1]}
			if r.Bool() {
				c.data = numbers(rows * copied[1])
			}
			s.again = append(s.again, c)
		}
	}
	return s, r.Done()
}

package main

import "math"

// pieces is a table of minimax.py: a function of float32 as one of 8 polynomials.
// Eight numbers are what AVX2 looks up in one instruction; 16 took three there.
type pieces [][8]float64

// Rows of pieces; from piecePowers on they are coefficients, the lowest first.
const (
	pieceCentre = iota
	piecePart   // of the argument, which is added beside the polynomial
	piecePowers
)

// piece is the polynomial at a that the last bits of index tell.
func (f *formula) piece(table pieces, a, index value) value {
	index = f.index(index)
	row := func(i int) value {
		if table[i] == [8]float64{} {
			return f.zero()
		}
		return f.lookup(f.format().table(func(j int) float64 {
			if i == piecePowers && table[i][j] == 0 {
				return math.Copysign(0, -1) // beside it stands the part of a -0
			}
			return table[i][j]
		}), index)
	}
	t := f.sub(a, row(pieceCentre))
	rest := row(len(table) - 1)
	for i := len(table) - 2; i > piecePowers; i-- {
		rest = f.fma(rest, t, row(i))
	}
	return f.fma(t, rest, f.fma(a, row(piecePart), row(piecePowers)))
}

// evenPieces are pieces around 0, -step and so on to -7 steps, meant for numbers from end on.
type evenPieces struct {
	pieces
	step, end float64
}

var (
	siluEven     = evenPieces{siluPieces, 1, -7.49}
	sigmoidEven  = evenPieces{sigmoidPieces, 1, -7.49}
	geluEven     = evenPieces{geluPieces, 0.4375, -3.28}
	geluTanhEven = evenPieces{geluTanhPieces, 0.4375, -3.28}
)

// form is body, which takes evenPiece, up to the end of the pieces, otherwise behind it.
func (e evenPieces) form(body func(f *formula, e evenPieces) value, otherwise func(f *formula) value) form {
	return form{
		func(f *formula) value { return body(f, e) },
		func(f *formula, near value) value { return f.pick(f.behind(e), otherwise(f), near) },
	}
}

// behind is the mask of the numbers behind the pieces.
func (f *formula) behind(e evenPieces) value { return f.less(f.negate(f.x()), f.number(e.end)) }

// evenPiece is the polynomial at -|x|.
func (f *formula) evenPiece(e evenPieces) value {
	a, far := f.negate(f.x()), f.behind(e)
	f.far = &far
	return f.piece(e.pieces, a, f.fnma(a, f.number(1/e.step), f.number(f.format().magic())))
}

// gatedByPieces is x times a function g that rises from 0 to 1, g(x) + g(-x) = 1, of the pieces of -|x| g(-|x|), since
// x g(x) = x - x g(-x).
func (f *formula) gatedByPieces(e evenPieces) value {
	minusZero := f.bits(f.signBit()) // beside 0 a result of -0 would be 0
	return f.add(f.max(minusZero, f.x()), f.evenPiece(e))
}

// sigmoidByPieces is sigmoid(-|x|), or 1 less that.
func (f *formula) sigmoidByPieces(e evenPieces) value {
	s := f.evenPiece(e)
	return f.pick(f.negative(f.x()), s, f.sub(f.number(1), s))
}

// tanhByPieces takes half an octave of 1 + scale |x| for a piece. Behind the last one tanh is 1.
func (f *formula) tanhByPieces() value {
	const scale, last = 1.6484375, 9.09
	x := f.x()
	a := f.min(f.number(last), f.abs(x))
	octaves := f.fma(a, f.number(scale), f.number(1))
	return f.or(f.piece(tanhByBits(), a, f.shiftRight(octaves, f.format().bits-1)), f.sign(x))
}

// tanhByBits is tanhPieces in the order of the last 3 bits of exponent and first bit behind the point:
// those of 1 are 110.
func tanhByBits() pieces {
	first := math.Float32bits(1) >> 22
	table := make(pieces, len(tanhPieces))
	for i, row := range tanhPieces {
		for j, v := range row {
			table[i][(int(first)+j)%len(row)] = v
		}
	}
	return table
}

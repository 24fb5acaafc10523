package graph

import (
	"math"
	"testing"
)

// Every number of the types of 16 bits is itself when rounded, what lies halfway between
// two goes to the even one, and a little more or less to the nearer.
func TestRoundToHalves(t *testing.T) {
	for _, c := range []struct {
		typ DType
		of  func(uint16) float64
		inf uint16
	}{{Float16, ofHalf, 0x7c00}, {BFloat16, ofBrain, 0x7f80}} {
		for b := range uint32(1 << 16) {
			x := c.of(uint16(b))
			if r := c.typ.Round(x); r != x && !math.IsNaN(x) {
				t.Fatalf("%s: %g of bits %x becomes %g", c.typ, x, b, r)
			}
		}
		for b := uint16(0); b+1 < c.inf; b++ {
			lo, hi := c.of(b), c.of(b+1)
			half := lo + (hi-lo)/2
			even := lo
			if b%2 == 1 {
				even = hi
			}
			for x, want := range map[float64]float64{half: even, lo + 0.49*(hi-lo): lo, lo + 0.51*(hi-lo): hi} {
				if float64(float32(x)) != x {
					x = float64(float32(x)) // of what lies between, float holds enough
				}
				if got := c.typ.Round(x); got != want || c.typ.Round(-x) != -want {
					t.Fatalf("%s: %g becomes %g, want %g", c.typ, x, got, want)
				}
			}
		}
		if c.of(c.inf-1) != c.typ.Largest() || !math.IsInf(c.of(c.inf), 1) || !math.IsNaN(c.of(c.inf+1)) {
			t.Errorf("%s: largest is %g", c.typ, c.of(c.inf-1))
		}
		if beyond := c.typ.Largest() * 1.01; !math.IsInf(c.typ.Round(beyond), 1) || !math.IsInf(c.typ.Round(-beyond), -1) {
			t.Errorf("%s: %g is not infinite", c.typ, beyond)
		}
	}
}

func TestIntegers(t *testing.T) {
	for _, c := range []struct {
		typ             DType
		lo, hi          int64
		beyond, wrapped int64
		x               float64
		truncated       int64
	}{
		{Int4, -8, 7, 8, -8, -1.7, -1},
		{Uint4, 0, 15, -1, 15, 17.5, 1},
		{Int8, -128, 127, 200, -56, 300.7, 44},
		{Uint8, 0, 255, -1, 255, -1.5, 255},
		{Int16, -32768, 32767, 1 << 15, -32768, 70000, 4464},
		{Uint16, 0, 65535, 65537, 1, -200, 65336},
		{Int32, math.MinInt32, math.MaxInt32, 1 << 31, math.MinInt32, 3e9, math.MaxInt32},
		{Uint32, 0, math.MaxUint32, -1, math.MaxUint32, 3e9, 3e9},
		{Int64, math.MinInt64, math.MaxInt64, -1, -1, -1e30, math.MinInt64},
		{Uint64, 0, math.MaxInt64, -1, -1, 1 << 63, math.MinInt64},
	} {
		if lo, hi := c.typ.Limits(); lo != c.lo || hi != c.hi {
			t.Errorf("%s: from %d to %d", c.typ, lo, hi)
		}
		x := []int64{c.beyond, c.lo, c.hi}
		c.typ.WrapAll(x)
		if x[0] != c.wrapped || c.typ.Wrap(c.beyond) != c.wrapped || x[1] != c.lo || x[2] != c.hi {
			t.Errorf("%s: %v", c.typ, x)
		}
		if k := c.typ.Truncated(c.x); k != c.truncated || c.typ.Truncated(math.NaN()) != 0 {
			t.Errorf("%s of %g is %d, want %d", c.typ, c.x, k, c.truncated)
		}
	}
	if Uint64.Number(-1) != 1<<64 || Int64.Number(-1) != -1 || Uint64.Order(-1) <= Uint64.Order(1) {
		t.Error("numbers of Uint64 are read as ones of Int64")
	}
}

// A conversion narrows where some number of the one type is not one of the other.
func TestNarrows(t *testing.T) {
	integers := []DType{Int8, Uint8, Int16, Uint16, Int32, Uint32}
	for _, to := range []DType{Float32, Float16, BFloat16} {
		for _, from := range integers {
			lo, hi := from.Limits()
			loses := false
			for _, k := range []int64{lo, lo + 1, hi - 1, hi} {
				loses = loses || to.Round(float64(k)) != float64(k)
			}
			if Narrows(from, to) != loses {
				t.Errorf("%s to %s: %v", from, to, !loses)
			}
		}
	}
	for _, c := range [][2]DType{{Float64, Float32}, {Float32, Float16}, {Float16, BFloat16}, {BFloat16, Float16}, {Int64, Float16}, {Uint64, Float32}} {
		if !Narrows(c[0], c[1]) || Narrows(c[1], Float64) || Narrows(Bool, c[1]) {
			t.Error(c)
		}
	}
}

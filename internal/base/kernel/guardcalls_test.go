//go:build linux && (amd64 || arm64) && !purego

package kernel

import (
	"fmt"
	"testing"
)

// TestFunctionsStayInside calls the functions that Go code calls, with slices that end,
// or begin, where memory does: what they tell the assembly is right too.
func TestFunctionsStayInside(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		g := newGuards(t)
		for n := 1; n < 40; n++ {
			elementwiseInside[float64](t, g, s, n)
			elementwiseInside[float32](t, g, s, n)
			for _, m := range []int{1, 2, 5, 7, 13} {
				for _, k := range []int{1, 3, 8, 17} {
					productsInside[float64](t, g, s, m, n, k)
					productsInside[float32](t, g, s, m, n, k)
					unitsInside[float64](t, g, s, m, n, k)
					unitsInside[float32](t, g, s, m, n, k)
				}
				rowsInside(t, g, s, m, n)
				transposesInside[float64](t, g, s, m, n)
				transposesInside[float32](t, g, s, m, n)
			}
		}
	})
}

func elementwiseInside[T Float](t *testing.T, g *guards, s isa, n int) {
	t.Helper()
	for name, f := range map[string]func(dst, a, b []T){
		"Relu":      func(dst, a, _ []T) { relu(s, dst, a) },
		"LeakyRelu": func(dst, a, _ []T) { leakyRelu(s, dst, a, 0.1) },
		"Exp":       func(dst, a, _ []T) { exp(s, dst, a) },
		"Sigmoid":   func(dst, a, _ []T) { sigmoid(s, dst, a) },
		"Tanh":      func(dst, a, _ []T) { tanh(s, dst, a) },
		"Axpy":      func(dst, a, _ []T) { axpy(s, dst, a, 2) },
		"Dot":       func(_, a, b []T) { dot(s, a, b) },
		"Add":       func(dst, a, b []T) { add(s, dst, a, b); add(s, dst, a, b[:1]) },
		"Sub":       func(dst, a, b []T) { sub(s, dst, a, b); sub(s, dst, a[:1], b) },
		"Mul":       func(dst, a, b []T) { mul(s, dst, a, b); mul(s, dst, a, b[:1]) },
		"Div":       func(dst, a, b []T) { div(s, dst, a, b); div(s, dst, a[:1], b) },
		"Max":       func(dst, a, b []T) { larger(s, dst, a, b) },
		"AdamStep":  func(dst, a, b []T) { adamStep(s, dst, a, b, a, &adam[T]{eps: 1}) },
		"ReluGrad":  func(dst, a, b []T) { reluGrad(s, dst, a, b) },
	} {
		g.check(t, fmt.Sprintf("%s of %d %T", name, n, T(0)), func(g *guards) {
			f(numbers[T](g, n), numbers[T](g, n), numbers[T](g, n))
		})
	}
}

func transposesInside[T Float](t *testing.T, g *guards, s isa, m, n int) {
	t.Helper()
	g.check(t, fmt.Sprintf("Transpose of %d x %d %T", m, n, T(0)), func(g *guards) {
		lds, ldd := n+g.rng.IntN(3), m+g.rng.IntN(3)
		src, dst := numbers[T](g, extent(m, n, lds)), numbers[T](g, extent(n, m, ldd))
		transpose(s, dst, ldd, src, lds, m, n)
		for i := range m {
			for l := range n {
				if dst[l*ldd+i] != src[i*lds+l] {
					t.Fatalf("%v: element (%d, %d) of %d x %d is %v, not %v", s, i, l, m, n, dst[l*ldd+i], src[i*lds+l])
				}
			}
		}
	})
}

func productsInside[T Float](t *testing.T, g *guards, s isa, m, n, k int) {
	t.Helper()
	for _, trans := range []bool{false, true} {
		g.check(t, fmt.Sprintf("Mul of %d x %d x %d %T, transposed %t", m, n, k, T(0), trans), func(g *guards) {
			lda, ldc := k+g.rng.IntN(3), n+g.rng.IntN(3)
			b := numbers[T](g, k*n)
			w := packWeights(s, k, n, b, trans)
			w.mul(place[T](g, extent(m, n, ldc)), ldc, numbers[T](g, extent(m, k, lda)), lda, m, numbers[T](g, n), true, nil)
		})
	}
	g.check(t, fmt.Sprintf("Gemm of %d x %d x %d %T", m, n, k, T(0)), func(g *guards) {
		gemm(s, place[T](g, m*n), numbers[T](g, m*k), numbers[T](g, k*n), m, n, k)
	})
	g.check(t, fmt.Sprintf("AddTransMul of %d x %d x %d %T", m, n, k, T(0)), func(g *guards) {
		lda, ldb, ldc := m+g.rng.IntN(3), n+g.rng.IntN(3), n+g.rng.IntN(3)
		addTransMul(s, numbers[T](g, extent(m, n, ldc)), ldc, numbers[T](g, extent(k, m, lda)), lda, m, numbers[T](g, extent(k, n, ldb)), ldb, n, k)
	})
}

// rowsInside are n rows of m columns.
func rowsInside(t *testing.T, g *guards, s isa, m, n int) {
	t.Helper()
	for name, call := range map[string]func(g *guards){
		"AddCross": func(g *guards) {
			addCross(s, numbers[float64](g, m*3), 3, numbers[float64](g, n*m), m, m, numbers[float64](g, n*3), 3, 3, n, numbers[float64](g, n))
		},
		"AddGram": func(g *guards) {
			addGram(s, numbers[float64](g, m*m), m, numbers[float64](g, n*m), m, m, n, numbers[float64](g, n))
		},
		"AddOuter": func(g *guards) {
			addOuter(s, numbers[float64](g, m*2*16), m, 2, indices(g, n, m), numbers[float64](g, 4*n), indices(g, n, 2), numbers[float64](g, 4*n), numbers[float64](g, n))
		},
		"AddScaled": func(g *guards) {
			addScaled(s, numbers[float64](g, 3*m*4), 3, indices(g, n, 3), numbers[float64](g, 4*n), numbers[float64](g, n*m), m, m, numbers[float64](g, n))
		},
		"AddBilinear": func(g *guards) {
			addBilinear(s, numbers[float64](g, n), numbers[float64](g, 7*(m+3)), m+3, 7, m+3, indices(g, n, 4), numbers[float64](g, 4*n), indices(g, n, m), numbers[float64](g, 4*n))
		},
		"MulBand": func(g *guards) {
			mulBand(s, place[float64](g, n), indices(g, n, m), numbers[float64](g, 4*n), numbers[float64](g, m+3))
		},
		"RowDots": func(g *guards) {
			rowDots(s, place[float64](g, n), numbers[float64](g, 5*m), m, 5, indices(g, n, 5), numbers[float64](g, n*m), m, m)
		},
		"RowSizes": func(g *guards) { rowSizes(s, place[float64](g, n), numbers[float64](g, n*m), m, m) },
		"MulBandRows": func(g *guards) {
			mulBandRows(s, place[float64](g, n*m), m, indices(g, n, 5), numbers[float64](g, 4*n), numbers[float64](g, 8*m), m, 8, m)
		},
		"ScatterRows": func(g *guards) {
			scatterRows(s, numbers[float64](g, 5*m), m, 5, indices(g, 2*n, 5), 2, numbers[float64](g, 2*n), numbers[float64](g, n*m), m, m, n)
		},
		"ScatterBand": func(g *guards) {
			scatterBand(s, numbers[float64](g, 5*(m+3)), m+3, 5, m+3, indices(g, 2*n, 5), 2, numbers[float64](g, 2*n), indices(g, n, m), numbers[float64](g, 4*n))
		},
		"Splines": func(g *guards) {
			splines(s, place[int32](g, n), place[float64](g, 4*n), numbers[float64](g, n), -0.25, 0.75, 10, 10)
		},
		"BandNorm": func(g *guards) { bandNorm(s, numbers[float64](g, 4*n)) },
		"Bounds":   func(g *guards) { bounds(s, numbers[float64](g, n)) },
	} {
		g.check(t, fmt.Sprintf("%s of %d rows, %d columns", name, n, m), call)
	}
}

// unitsInside calls what Go code calls with blocks that end, or begin, where memory does:
// m units of n rows, k of the other operand.
func unitsInside[T Float](t *testing.T, g *guards, s isa, m, n, k int) {
	t.Helper()
	ld := UnitStride[T](n)
	for _, trans := range []bool{false, true} {
		g.check(t, fmt.Sprintf("MulUnits of %d x %d, %d rows, %T, transposed %t", m, k, n, T(0), trans), func(g *guards) {
			w := Matrix[T]{Data: numbers[T](g, m*k), Rows: m, Cols: k, RowStep: k, ColStep: 1}
			if trans {
				w.RowStep, w.ColStep = 1, m
			}
			w.mulUnits(s, numbers[T](g, m*ld), numbers[T](g, k*ld), n, numbers[T](g, m), true)
		})
	}
	g.check(t, fmt.Sprintf("Rows of %d units, %d rows, %T, next to %d", m, n, T(0), k), func(g *guards) {
		r := &Rows[T]{}
		r.turn(s, numbers[T](g, m*ld), numbers[T](g, m*ld), m, n)
		for j := 0; j < m; j += r.Columns(j) {
			r.AddProduct(numbers[T](g, k*m), m, numbers[T](g, k*ld), k, j)
			g.used -= 2
		}
		r.AddSums(numbers[T](g, m))
	})
	g.check(t, fmt.Sprintf("AddOneInput of %d units, %d rows, %T", m, n, T(0)), func(g *guards) {
		new(Rows[T]).addOneInput(s, numbers[T](g, m), numbers[T](g, m), numbers[T](g, ld), numbers[T](g, m*ld), numbers[T](g, m*ld), m, n)
	})
}

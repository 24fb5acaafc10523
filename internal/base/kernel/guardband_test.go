//go:build linux && (amd64 || arm64) && !purego

package kernel

import (
	"fmt"
	"unsafe"
)

// index is the address of row numbers.
func index(v []int32) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(v)) }

// weighted places n weights, or none.
func weighted(g *guards, n int, some bool) unsafe.Pointer {
	if !some {
		return nil
	}
	return at(numbers[float64](g, n), 0)
}

func outers(run func(*band)) cases {
	return func(check func(string, func(*guards))) {
		for n := 1; n < 14; n++ {
			for shape := range 12 {
				check(fmt.Sprintf("%d rows, shape %d", n, shape), func(g *guards) {
					rows, cols := 1+shape%3, 1+shape/3%2
					run(&band{
						n: uintptr(n), rows: uintptr(rows), cols: uintptr(cols), c: at(numbers[float64](g, rows*cols*Band*Band), 0),
						row: index(indices(g, n, rows)), a: at(numbers[float64](g, Band*n), 0),
						col: index(indices(g, n, cols)), b: at(numbers[float64](g, Band*n), 0), w: weighted(g, n, shape >= 6),
					})
				})
			}
		}
	}
}

func scales(run func(*band)) cases {
	return func(check func(string, func(*guards))) {
		for n := 1; n < 10; n++ {
			for q := 1; q < 12; q++ {
				for variant := range 4 {
					check(fmt.Sprintf("%d rows of %d, variant %d", n, q, variant), func(g *guards) {
						const rows = 3
						ldb := q + g.rng.IntN(3)
						if variant%2 == 1 {
							ldb = 0
						}
						run(&band{
							n: uintptr(n), rows: rows, cols: uintptr(q), c: at(numbers[float64](g, rows*q*Band), 0),
							row: index(indices(g, n, rows)), a: at(numbers[float64](g, Band*n), 0),
							b: at(numbers[float64](g, extent(n, q, ldb)), 0), ldb: bytesOf[float64](ldb), w: weighted(g, n, variant >= 2),
						})
					})
				}
			}
		}
	}
}

// folds calls the assembly the way that FoldOuter does: its operand is one slice.
func folds(check func(string, func(*guards))) {
	for rows := 2; rows < 8; rows++ {
		for cols := 1; cols < 10; cols++ {
			check(fmt.Sprintf("%d x %d cells", rows, cols), func(g *guards) {
				p, q := rows+Band-1, cols+Band-1
				c := numbers[float64](g, rows*cols*Band*Band)
				foldOuter(best(), numbers[float64](g, p*q), q, p, q, c, rows, cols)
			})
		}
	}
}

func norms(run func(*band)) cases {
	return func(check func(string, func(*guards))) {
		for n := 4; n < 44; n += 4 {
			check(fmt.Sprintf("%d rows", n), func(g *guards) {
				run(&band{a: at(numbers[float64](g, Band*n), 0), n: uintptr(n), b: at(numbers[float64](g, 2*Band), 0)})
			})
		}
	}
}

func splinesOf(run func(*spline), s isa) cases {
	return func(check func(string, func(*guards))) {
		step := lanes[float64](s)
		for n := step; n < 10*step; n += step {
			check(fmt.Sprintf("%d numbers", n), func(g *guards) {
				run(&spline{
					x: at(numbers[float64](g, n), 0), n: uintptr(n), first: index(place[int32](g, n)), value: at(place[float64](g, Band*n), 0),
					lo: -0.2, hi: 1, scale: 10, last: 11,
				})
			})
		}
	}
}

func boundsOf(run func(*band)) cases {
	return func(check func(string, func(*guards))) {
		for n := 16; n < 160; n += 16 {
			check(fmt.Sprintf("%d numbers", n), func(g *guards) {
				run(&band{a: at(numbers[float64](g, n), 0), n: uintptr(n), b: at(place[float64](g, 12), 0)})
			})
		}
	}
}

func bandMuls(run func(*band)) cases {
	return func(check func(string, func(*guards))) {
		for n := 4; n < 40; n += 4 {
			for starts := 1; starts < 9; starts++ {
				check(fmt.Sprintf("%d rows, %d places", n, starts), func(g *guards) {
					run(&band{
						c: at(place[float64](g, n), 0), n: uintptr(n), row: index(indices(g, n, starts)), rows: uintptr(starts),
						a: at(numbers[float64](g, Band*n), 0), b: at(numbers[float64](g, starts+Band-1), 0),
					})
				})
			}
		}
	}
}

func scatters(run func(*scatter)) cases {
	return func(check func(string, func(*guards))) {
		for n := 1; n < 6; n++ {
			for q := 1; q < 26; q++ {
				for variant := range 6 {
					check(fmt.Sprintf("%d rows of %d, variant %d", n, q, variant), func(g *guards) {
						const rows = 5
						k, ldc, ldb := 1+variant%3, q+g.rng.IntN(3), q+g.rng.IntN(3)
						run(&scatter{
							c: at(numbers[float64](g, extent(rows, q, ldc)), 0), ldc: bytesOf[float64](ldc), rows: rows, n: uintptr(n),
							index: index(indices(g, n*k, rows)), k: uintptr(k), factor: weighted(g, n*k, variant >= 3),
							b: at(numbers[float64](g, extent(n, q, ldb)), 0), ldb: bytesOf[float64](ldb), q: uintptr(q),
						})
					})
				}
			}
		}
	}
}

func scatterBands(run func(*scatter)) cases {
	return func(check func(string, func(*guards))) {
		for n := 1; n < 10; n++ {
			for q := Band; q < 12; q++ {
				for variant := range 6 {
					check(fmt.Sprintf("%d rows in %d columns, variant %d", n, q, variant), func(g *guards) {
						const rows = 5
						k, ldc, starts := 1+variant%3, q+g.rng.IntN(3), q-Band+1
						run(&scatter{
							c: at(numbers[float64](g, extent(rows, q, ldc)), 0), ldc: bytesOf[float64](ldc), rows: rows, n: uintptr(n),
							index: index(indices(g, n*k, rows)), k: uintptr(k), factor: weighted(g, n*k, variant >= 3),
							first: index(indices(g, n, starts)), starts: uintptr(starts), b: at(numbers[float64](g, Band*n), 0),
						})
					})
				}
			}
		}
	}
}

func adams[T Float](run func(*adam[T]), s isa) cases {
	return func(check func(string, func(*guards))) {
		step := lanes[T](s)
		for n := step; n < 12*step; n += step {
			check(fmt.Sprintf("%d numbers", n), func(g *guards) {
				run(&adam[T]{
					w: at(numbers[T](g, n), 0), g: at(numbers[T](g, n), 0), m: at(numbers[T](g, n), 0), v: at(numbers[T](g, n), 0), n: uintptr(n),
					beta1: 0.9, c1: 0.1, beta2: 0.999, c2: 0.001, keep: 1, rate: 0.1, eps: 1e-8, tiny: 1e-30,
				})
			})
		}
	}
}

func reluGrads[T Float](run func(*loop[T])) cases {
	return func(check func(string, func(*guards))) {
		step := lanes[T](avx2)
		for n := step; n < 12*step; n += step {
			check(fmt.Sprintf("%d numbers", n), func(g *guards) {
				run(&loop[T]{dst: at(place[T](g, n), 0), a: at(numbers[T](g, n), 0), b: at(numbers[T](g, n), 0), n: uintptr(n)})
			})
		}
	}
}

func sumRowsCases[T Float](run func(*sumRows)) cases {
	return func(check func(string, func(*guards))) {
		step := lanes[T](avx2)
		for cols := step; cols < 12*step; cols += step {
			for rows := 1; rows < 6; rows++ {
				check(fmt.Sprintf("%d rows of %d", rows, cols), func(g *guards) {
					ld := cols + g.rng.IntN(3)
					run(&sumRows{src: at(numbers[T](g, extent(rows, cols, ld)), 0), sum: at(numbers[T](g, cols), 0), rows: uintptr(rows), cols: uintptr(cols), ld: bytesOf[T](ld)})
				})
			}
		}
	}
}

package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// checkBand compares both loops over rows of four entries with plain sums: bit for
// bit if fused, closely if plain. Now and then a row is in no cell.
func checkBand(t testing.TB, s isa, rng *rand.Rand, n, rows, cols int) {
	t.Helper()
	starts := func(limit int) []int32 {
		v := make([]int32, n)
		for i := range v {
			v[i] = int32(rng.IntN(limit))
		}
		return v
	}
	row, col := starts(rows), starts(cols)
	stop := n
	if n > 0 && rng.IntN(4) == 0 {
		stop = rng.IntN(n)
		wrong := []int32{-1, math.MinInt32, int32(rows), math.MaxInt32}[rng.IntN(4)]
		if rng.IntN(2) == 0 {
			row[stop] = wrong
		} else if col[stop] = wrong; wrong == int32(rows) {
			col[stop] = int32(cols)
		}
	}
	a, b := newGuarded[float64](Band*n, rng.IntN(8)), newGuarded[float64](Band*n, rng.IntN(8))
	awkward(rng, a.v, false)
	awkward(rng, b.v, false)
	var w []float64
	if rng.IntN(2) == 0 {
		w = make([]float64, n)
		awkward(rng, w, false)
	}
	weigh := func(v float64, i int) float64 {
		if w == nil {
			return v
		}
		return v * w[i]
	}
	add := mulAdd[float64](s)

	c := newGuarded[float64](rows*cols*Band*Band, rng.IntN(8))
	awkward(rng, c.v, false)
	want := slices.Clone(c.v)
	for i := range stop {
		for l := range Band {
			for m := range Band {
				at := ((int(row[i])*cols+int(col[i]))*Band+l)*Band + m
				want[at] = add(a.v[Band*i+l], weigh(b.v[Band*i+m], i), want[at])
			}
		}
	}
	if got := addOuter(s, c.v, rows, cols, row, a.v, col, b.v, w); got != stop {
		t.Fatalf("%v: outer products of %d rows, want %d of %d", s, got, stop, n)
	}
	sameBand(t, s, "outer", c, want)

	// Columns as many as starts (around the circle), or the three more that a band
	// needs.
	dp, dq := max(rows, Band)+rng.IntN(2)*(Band-1), max(cols, Band)+rng.IntN(2)*(Band-1)
	ldd := dq + rng.IntN(3)
	dst := newGuarded[float64]((dp-1)*ldd+dq, rng.IntN(8))
	awkward(rng, dst.v, false)
	want = slices.Clone(dst.v)
	for r := range rows {
		for k := range cols {
			for l := range Band {
				for m := range Band {
					want[(r+l)%dp*ldd+(k+m)%dq] += c.v[((r*cols+k)*Band+l)*Band+m]
				}
			}
		}
	}
	foldOuter(s, dst.v, ldd, dp, dq, c.v, rows, cols)
	for i := range want {
		if math.Abs(dst.v[i]-want[i]) > 1e-12*(1+math.Abs(want[i])) {
			t.Fatalf("%v fold: element %d is %v, want %v", s, i, dst.v[i], want[i])
		}
	}
	dst.check(t)
	c.check(t)

	q := rng.IntN(6)
	ldb := q + rng.IntN(3)
	if q > 0 && rng.IntN(4) == 0 {
		ldb = 0
	}
	x := newGuarded[float64](max(0, (n-1)*ldb+q), rng.IntN(8))
	awkward(rng, x.v, false)
	c = newGuarded[float64](rows*q*Band, rng.IntN(8))
	awkward(rng, c.v, false)
	want = slices.Clone(c.v)
	stop = n
	for i, r := range row {
		if r < 0 || int(r) >= rows {
			stop = i
			break
		}
		for k := range q {
			for l := range Band {
				at := (int(r)*q+k)*Band + l
				want[at] = add(weigh(a.v[Band*i+l], i), x.v[i*ldb+k], want[at])
			}
		}
	}
	if got := addScaled(s, c.v, rows, row, a.v, x.v, ldb, q, w); got != stop {
		t.Fatalf("%v: %d rows scaled, want %d of %d", s, got, stop, n)
	}
	sameBand(t, s, "scaled", c, want)
	a.check(t)
	b.check(t)
	x.check(t)
}

func sameBand(t testing.TB, s isa, what string, c *guarded[float64], want []float64) {
	t.Helper()
	for i := range want {
		if !same(c.v[i], want[i]) {
			t.Fatalf("%v %s: element %d is %v, want %v", s, what, i, c.v[i], want[i])
		}
	}
	c.check(t)
}

func TestBand(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		rng := rand.New(rand.NewPCG(1, 2))
		for n := range 40 {
			for range 10 {
				checkBand(t, s, rng, n, 1+rng.IntN(20), 1+rng.IntN(20))
			}
		}
	})
}

func FuzzBand(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint8(17), uint8(17))
	f.Add(uint64(2), uint8(255), uint8(1), uint8(1))
	f.Fuzz(func(t *testing.T, seed uint64, n, rows, cols uint8) {
		for _, s := range supported() {
			checkBand(t, s, rand.New(rand.NewPCG(seed, 1)), int(n), 1+int(rows%40), 1+int(cols%40))
		}
	})
}

// Rows as those of two cubic splines of 20 columns.
func BenchmarkOuter(b *testing.B) {
	const n = 4096
	for _, k := range []int{10, 20, 40} {
		rng := rand.New(rand.NewPCG(1, 2))
		row, col := make([]int32, n), make([]int32, n)
		for i := range row {
			row[i], col[i] = int32(rng.IntN(k-3)), int32(rng.IntN(k-3))
		}
		x, y := Aligned(Band*n), Aligned(Band*n)
		c := Aligned(k * k * Band * Band)
		for _, s := range supported() {
			b.Run(fmt.Sprintf("k=%d/%v", k, s), func(b *testing.B) {
				for b.Loop() {
					addOuter(s, c, k-3, k-3, row, x, col, y, nil)
				}
				b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/n, "ns/row")
			})
			b.Run(fmt.Sprintf("scaled k=%d/%v", k, s), func(b *testing.B) {
				for b.Loop() {
					addScaled(s, c, k-3, row, x, y, 2, 2, nil)
				}
				b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/n, "ns/row")
			})
		}
	}
}

package moments

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/design"
)

// units are functions like those of a layer that rectifies, far from 0 on average.
func units(t *testing.T, r *rand.Rand, d int) *design.Pieces {
	t.Helper()
	knots, values := make([]float64, 30), mat.NewDense(30, d, nil)
	for j := range knots {
		knots[j] = -2 + float64(j)/8 + r.Float64()/16
		for l := range d {
			values.Set(j, l, 1e3*float64(l)+math.Abs(r.NormFloat64()))
		}
	}
	slopes := func(sign float64) (out []float64) {
		for range d {
			out = append(out, sign*r.Float64())
		}
		return out
	}
	p, err := design.NewPieces(knots, values, slopes(-1), slopes(1))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Sums of interpolated columns, alone, beside others, and where they become dense ones on the way, are those of the same
// numbers as dense columns, the judge.
func TestSumsOfPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	of := []*design.Pieces{units(t, r, 6), units(t, r, 11), units(t, r, 3)}
	codes := func(n int) design.Columns {
		c := &design.Codes{D: 5, Code: make([]int32, n)}
		for i := range n {
			c.Code[i] = int32(r.IntN(5))
		}
		return c
	}
	lines := func(n int) design.Columns {
		m := mat.NewDense(n, 2, nil)
		for i := range n {
			m.SetRow(i, []float64{2013 + r.NormFloat64(), r.NormFloat64()})
		}
		return design.Dense{Dense: m}
	}
	for name, other := range map[string]func(int) design.Columns{"alone": nil, "codes": codes, "lines": lines} {
		for _, weighted := range []bool{false, true} {
			for _, changing := range []bool{false, true} {
				layout := Layout{Predictors: [][]int{{0, 1, 2}}, Responses: 1}
				dims := []int{6, 11, 3}
				if other != nil {
					layout.Predictors[0] = append(layout.Predictors[0], 3)
					_, d := other(1).Dims()
					dims = append(dims, d)
				}
				frame := &Frame{Dims: dims}
				for a, d := range dims {
					layout.Bases = append(layout.Bases, Basis{Dim: d})
					frame.Dense = append(frame.Dense, a < 3 || name == "lines")
					for range d {
						frame.Point = append(frame.Point, 1e3*r.NormFloat64())
					}
				}
				chunks := []*Chunk{NewChunk(layout), NewChunk(layout)}
				scatter := []*ScatterChunk{NewScatterChunk(frame, 1, plain), NewScatterChunk(frame, 1, plain)}
				for call, n := range []int{1, 300, 4000, 77, 5000} {
					var x, full []design.Columns
					for l, p := range of {
						z := make([]float64, n)
						for i := range z {
							z[i] = 2 * r.NormFloat64()
						}
						x = append(x, p.Rows(nil, z, 1, n))
						values := mat.NewDense(n, dims[l], nil)
						p.Eval(values, z, 1, n)
						full = append(full, design.Dense{Dense: values})
						if changing && call == 3 && l == 1 {
							x[l] = full[l]
						}
					}
					if other != nil {
						c := other(n)
						x, full = append(x, c), append(full, c)
					}
					response, with := mat.NewDense(n, 1, nil), mat.NewDense(n, 1, nil)
					var w []float64
					for i := range n {
						response.Set(i, 0, 5+r.NormFloat64())
						with.Set(i, 0, r.ExpFloat64())
						if weighted {
							w = append(w, max(0, r.NormFloat64()))
						}
					}
					for i, columns := range [][]design.Columns{x, full} {
						if err := chunks[i].Add(columns, w, response); err != nil {
							t.Fatal(err)
						}
						if err := scatter[i].Add(columns, with); err != nil {
							t.Fatal(err)
						}
					}
				}
				got, want := chunks[0].Moments(), chunks[1].Moments()
				where := func(what string, i, j int, got, want, size float64) {
					t.Helper()
					if !(math.Abs(got-want) <= 1e-11*size) { // rounding of 9,000 summands about a mean of 64
						t.Fatalf("%s, weighted %v, changing %v: %s %d, %d: %v, want %v", name, weighted, changing, what, i, j, got, want)
					}
				}
				for i := range want.Mean {
					where("mean", i, 0, got.Mean[i], want.Mean[i], math.Abs(want.Mean[i])+1)
					where("sum", i, 0, got.Sum[i], want.Sum[i], math.Abs(want.Sum[i])+1)
					where("product with the response", i, 0, got.XR.At(i, 0), want.XR.At(i, 0), math.Sqrt(want.XX.At(i, i)*want.RR.At(0, 0)))
					for j := range want.Mean {
						where("product", i, j, got.XX.At(i, j), want.XX.At(i, j), math.Sqrt(want.XX.At(i, i)*want.XX.At(j, j)))
					}
				}
				for i := range want.MaxRowNorm {
					where("row norm", i, 0, got.MaxRowNorm[i], want.MaxRowNorm[i], want.MaxRowNorm[i])
				}
				var about [2]*mat.SymDense
				for i, c := range scatter {
					sums, err := c.Take(nil)
					if err != nil {
						t.Fatal(err)
					}
					xx, _, _ := sums[0].About(frame, 1, 0, 0)
					about[i] = xx.Sum()
				}
				for i := range about[1].SymmetricDim() {
					for j := range i + 1 {
						where("scattered product", i, j, about[0].At(i, j), about[1].At(i, j), math.Sqrt(about[1].At(i, i)*about[1].At(j, j)))
					}
				}
			}
		}
	}
}

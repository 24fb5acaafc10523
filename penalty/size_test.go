package penalty

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"
)

// largeProblem has smooths of 20 columns and a random effect for the rest, from
// as many rows as are needed to make moments of that size quickly: the random
// effect's block of X'WX is diagonal (a level per row).
func largeProblem(dim, smooths int) *Problem {
	rng := rand.New(rand.NewPCG(uint64(dim), 5))
	const k = 20
	levels := dim - smooths*k
	n := 20 * dim
	p := &Problem{Rows: int64(n), SumW: float64(n), XX: mat.NewSymDense(dim, nil), XZ: make([]float64, dim)}
	raw := p.XX.(*mat.SymDense).RawSymmetric()
	effect := make([]float64, levels)
	for l := range effect {
		effect[l] = 0.5 * rng.NormFloat64()
	}
	row := make([]float64, smooths*k)
	for range n {
		level := rng.IntN(levels)
		z := effect[level] + rng.NormFloat64()
		for s := range smooths {
			u := 2*rng.Float64() - 1
			z += math.Sin(float64(s+1) * u)
			for j := range k {
				row[s*k+j] = math.Cos(float64(j+1) * math.Acos(u))
			}
		}
		p.ZZ += z * z
		for i, v := range row {
			p.XZ[i] += v * z
			for j := i; j < len(row); j++ {
				raw.Data[i*raw.Stride+j] += v * row[j]
			}
			raw.Data[i*raw.Stride+len(row)+level] += v
		}
		at := len(row) + level
		raw.Data[at*raw.Stride+at]++
		p.XZ[at] += z
	}
	s := mat.NewSymDense(k, nil)
	for j := 1; j < k; j++ {
		s.SetSym(j, j, math.Pow(float64(j), 4))
	}
	for i := range smooths {
		p.Terms = append(p.Terms, Component{Name: fmt.Sprintf("s%d", i), Start: i * k, Dim: k, S: []mat.Symmetric{s}})
	}
	p.Terms = append(p.Terms, Component{Name: "re", Start: smooths * k, Dim: levels, S: []mat.Symmetric{Ridge(levels)}})
	return p
}

func BenchmarkSelectLarge(b *testing.B) {
	for _, dim := range []int{500, 1000, 2000} {
		p := largeProblem(dim, dim/80)
		for _, o := range []Options{{WithoutVc: true}, {}, {Criterion: ML, WithoutVc: true}, {Criterion: GCV}} {
			b.Run(fmt.Sprintf("p=%d/%v/vc=%v", dim, o.Criterion, !o.WithoutVc), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					start := time.Now()
					f, err := Select(p, &o)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(time.Since(start).Seconds()/float64(len(f.Log)), "s/iteration")
					b.ReportMetric(float64(len(f.Log)), "iterations")
				}
			})
		}
	}
}

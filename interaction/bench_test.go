package interaction

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/decompose"
)

// BenchmarkRanking is a decomposition of 100,000 rows without the ranking and with it: of a
// remainder that is noise, which takes the tables alone, and of one to which every pair of
// neighbouring columns matters, with as many candidates as there may be.
func BenchmarkRanking(b *testing.B) {
	for _, p := range []int{10, 50} {
		x := correlated(7, 100_000, p, 0.3)
		u := uniform(1)
		eta, noise := make([]float64, len(x[0])), make([]float64, len(x[0]))
		for i := range eta {
			for j := 0; j+1 < p; j++ {
				eta[i] += x[j][i] + 0.3*x[j][i]*x[j+1][i]
			}
			noise[i] = u.normal()
		}
		tab := rows(b, x, eta, noise)
		f, err := basis.Parse(smooths(p), &basis.Options{Schema: tab.Schema()})
		if err != nil {
			b.Fatal(err)
		}
		s := NewSample(names(p), "")
		blocks, err := decompose.Prepare(b.Context(), tab, append(f.Specs, s), nil)
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range []struct {
			name, eta string
			ranking   bool
		}{{"none", "eta", false}, {"noise", "eta1", true}, {"pairs", "eta", true}} {
			m, err := decompose.With(columns{c.eta}, map[string][]decompose.Block{"": blocks})
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("p=%d/%s", p, c.name), func(b *testing.B) {
				for b.Loop() {
					var o decompose.Options
					if c.ranking {
						o.Visitors = []decompose.Visitor{NewRanking(s)}
					}
					if _, err := decompose.Decompose(b.Context(), m, tab, &o); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkProducts forms the exact products of as many pairs of ten columns as are compared at
// once, on the rows that a sample keeps, by two goroutines.
func BenchmarkProducts(b *testing.B) {
	const p, rows, most = 10, 16384, 45
	r := rand.New(rand.NewPCG(5, 2))
	s := &kept{values: values{codes: make([][]uint8, p)}, r: [][]float64{normals(r, rows)}}
	var scales []*scale
	var single []int
	var pairs [][2]int
	for j := range p {
		x := normals(r, rows)
		s.numbers = append(s.numbers, x)
		c := &scale{}
		values, ranks := midRanks(slices.Sorted(slices.Values(x)))
		c.distinct = len(values)
		c.setKnots(thinned(values, ranks))
		scales, single = append(scales, c), append(single, j)
		for i := range j {
			pairs = append(pairs, [2]int{i, j})
		}
	}
	f, e := newFunctions(scales, single, maxSingleDegree, nil, pairs[:most]), normals(r, rows)
	for b.Loop() {
		s.products(f, 0, e, 1.5)
	}
	b.ReportMetric(float64(f.width()), "functions")
}

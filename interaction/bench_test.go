package interaction

import (
	"fmt"
	"testing"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/decompose"
)

// BenchmarkRanking is a decomposition with and without the ranking, of 100,000 rows of
// which every pair of neighbouring columns matters: many candidates, both passes.
func BenchmarkRanking(b *testing.B) {
	for _, p := range []int{10, 50} {
		x := correlated(7, 100_000, p, 0.3)
		eta := make([]float64, len(x[0]))
		for i := range eta {
			for j := 0; j+1 < p; j++ {
				eta[i] += x[j][i] + 0.3*x[j][i]*x[j+1][i]
			}
		}
		tab := rows(b, x, eta)
		f, err := basis.Parse(smooths(p), &basis.Options{Schema: tab.Schema()})
		if err != nil {
			b.Fatal(err)
		}
		s := NewSample(names(p), "")
		blocks, err := decompose.Prepare(b.Context(), tab, append(f.Specs, s), nil)
		if err != nil {
			b.Fatal(err)
		}
		m, err := decompose.With(columns{"eta"}, map[string][]decompose.Block{"": blocks})
		if err != nil {
			b.Fatal(err)
		}
		for _, ranking := range []bool{false, true} {
			b.Run(fmt.Sprintf("p=%d/ranking=%v", p, ranking), func(b *testing.B) {
				for b.Loop() {
					var o decompose.Options
					if ranking {
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

package interaction

import (
	"fmt"
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

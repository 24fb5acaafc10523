package interaction

import (
	"cmp"
	"slices"

	"github.com/pho-go/pho/decompose"
)

// leastSingle is the share of Var(eta) from which on a single column is named.
const leastSingle = 0.0005

// singleGains are, by column of f.of, what its functions alone explain of sum w r^2, 0 unless they pass the test
// of all columns (Bonferroni). They need not add up to what all columns' do: columns go together.
func (f *functions) singleGains(p *products) []float64 {
	out := make([]float64, len(f.of))
	at := 1 // behind the constant
	for i, j := range f.of {
		columns := []int{0}
		for range f.scales[j].singleWidth(f.degree) {
			columns = append(columns, at)
			at++
		}
		n := len(columns)
		gram, sandwich, score, own := make([]float64, n*n), make([]float64, n*n), make([]float64, n), make([]float64, n)
		for a, x := range columns {
			for b, y := range columns {
				upper := min(x, y)*p.n + max(x, y)
				gram[a*n+b], sandwich[a*n+b] = p.gram[upper], p.sandwich[upper]
			}
			score[a], own[a] = p.score[x], p.gram[x*p.n+x]
		}
		if s := scored(score, gram, sandwich, own, tolerance); s.p*float64(len(f.of)) < level {
			out[i] = max(0, s.gain)
		}
	}
	return out
}

// namedSingles are the columns that take most, as shares of all.
func (f *finding) namedSingles(scales []*scale, all float64) []decompose.SingleGain {
	var out []decompose.SingleGain
	for i, gain := range f.singles {
		if gain/all >= leastSingle {
			out = append(out, decompose.SingleGain{Feature: scales[f.of[i]].name, Gain: gain / all})
		}
	}
	slices.SortStableFunc(out, func(a, b decompose.SingleGain) int { return cmp.Compare(b.Gain, a.Gain) })
	return out[:min(len(out), maxNamed)]
}

// maxNamed is how many single columns are named.
const maxNamed = 8

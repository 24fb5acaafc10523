package decompose_test

import (
	"testing"

	"github.com/pho-go/pho/decompose"
)

// BenchmarkHierarchicalPass splits rows into terms as fitted, and hierarchical ones: two smooths
// and their tensor product, factors and their interaction, and terms without margins; hierarchical ones
// with bands given the rows, too, for which nothing is added up of the split.
func BenchmarkHierarchicalPass(b *testing.B) {
	tab := correlated(b, 50_000, 0.5, nil)
	for name, formula := range map[string]string{
		"smooths": `~ s(x, bs="cr") + s(z, bs="cr") + te(x, z)`,
		"factors": "~ g + h + g:h",
		"pairs":   `~ s(x) + s(z) + s(w,k=4) + s(y) + ti(x,z) + ti(z,y) + ti(w,y,k=4)`,
		"apart":   `~ s(x, bs="cr") + s(z, bs="cr") + g`,
	} {
		for kind, o := range map[string]*decompose.Options{
			"fitted":           {Projection: decompose.Projection{Terms: decompose.Fitted}},
			"hierarchical":     {},
			"given these rows": {Bands: decompose.RowsBands},
		} {
			m := responseAsNetwork(b, tab, formula, "y")
			o.Workers = 1
			r, err := decompose.Decompose(b.Context(), m, tab, o)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(name+"/"+kind, func(b *testing.B) {
				for b.Loop() {
					if err := decompose.Explain(b.Context(), m, tab, r, o); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkSolveHierarchy is the work on products: four smooths, their
// six pairs and a triple.
func BenchmarkSolveHierarchy(b *testing.B) {
	tab := correlated(b, 5_000, 0.5, nil)
	m := responseAsNetwork(b, tab, `~ s(x) + s(z) + s(w,k=4) + s(y) + ti(x,z) + ti(x,w,k=4) + ti(z,w,k=4) + ti(x,y) + ti(z,y) + ti(w,y,k=4) + ti(x,z,w,k=4)`, "y")
	sums, err := decompose.Accumulate(b.Context(), m, tab, nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, terms := range []decompose.Terms{decompose.Fitted, decompose.Hierarchical} {
		b.Run(string(terms), func(b *testing.B) {
			for b.Loop() {
				if _, err := decompose.Solve(b.Context(), m, sums, &decompose.Options{Projection: decompose.Projection{Terms: terms, Method: decompose.PHO}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

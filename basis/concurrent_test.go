package basis

import (
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose"
)

func TestConcurrentUse(t *testing.T) {
	forAllTerms(t, func(t *testing.T, term decompose.Term) {
		b := sample(t, 50, 5)
		want := evaluate(t, term, b)
		var wg sync.WaitGroup
		got := make([]*mat.Dense, 4)
		for w := range got {
			wg.Go(func() {
				got[w] = mat.NewDense(50, term.Dim(), nil)
				if err := term.Eval(got[w], b); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, g := range got {
			bits(t, "concurrent Eval", g, want)
		}
	})
}

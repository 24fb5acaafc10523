package importance_test

import (
	"testing"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/importance"
)

// BenchmarkMap is one chunk of 4096 rows with five sets of terms to leave out.
func BenchmarkMap(b *testing.B) {
	for _, fam := range []family.Family{family.Gaussian{}, family.Poisson{}} {
		b.Run(fam.Name(), func(b *testing.B) {
			m := oneHead()
			m.products = [][2]string{{"a", "b"}}
			r, parts := measure(b, m, rows(b, m, 4096, 7, poissonDraw), options(fam))
			v := importance.New(fam)
			must(b, v.Begin(r))
			var n int
			for b.Loop() {
				n = 0
				for _, p := range parts {
					_, err := v.Map(p)
					must(b, err)
					n += p.Batch.Rows()
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n)/5, "ns/row/set")
		})
	}
}

var _ decompose.Visitor = (*importance.Visitor)(nil)

package basis

import (
	"encoding/json"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/design"
)

func FuzzDecode(f *testing.F) {
	for _, term := range allTerms(f) {
		spec, err := json.Marshal(term)
		must(f, err)
		f.Add(string(term.Kind()), spec)
	}
	f.Add("smooth", []byte(`{"bs":"ps","column":"x","degree":1,"knots":[-1,0,1,2],"by":{"column":"z"}}`))
	f.Add("factor", []byte(`{"column":"h","levels":["0","1","2","3"],"name":"factor(h)"}`))
	b := sample(f, 5, 9)
	f.Fuzz(func(t *testing.T, kind string, spec []byte) {
		term, err := Decode(decompose.Kind(kind), spec)
		if err != nil {
			return
		}
		again, err := json.Marshal(term)
		must(t, err)
		twin, err := Decode(term.Kind(), again)
		must(t, err)
		if twin.Name() != term.Name() || twin.Dim() != term.Dim() {
			t.Fatalf("%s of %d columns comes back as %s of %d", term.Name(), term.Dim(), twin.Name(), twin.Dim())
		}
		if term.Dim() < 1 || term.Dim() > 10_000 {
			return
		}
		x, y := mat.NewDense(5, term.Dim(), nil), mat.NewDense(5, term.Dim(), nil)
		failed, failedTwin := term.Eval(x, b), twin.Eval(y, b)
		if (failed == nil) != (failedTwin == nil) {
			t.Fatalf("Eval: %v, after a round trip %v", failed, failedTwin)
		}
		if failed != nil {
			return
		}
		if !mat.Equal(x, y) && !hasNaN(x) {
			t.Fatalf("%s: other values after a round trip", term.Name())
		}
		if s, ok := term.(decompose.SparseTerm); ok {
			c, err := s.EvalSparse(b)
			must(t, err)
			must(t, design.Check(c))
		}
	})
}

// hasNaN: values far outside extreme knots overflow.
func hasNaN(m *mat.Dense) bool {
	for _, v := range m.RawMatrix().Data {
		if v != v {
			return true
		}
	}
	return false
}

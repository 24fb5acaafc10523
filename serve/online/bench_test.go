package online_test

import (
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/serve"
)

// BenchmarkExplain is what one row costs without HTTP.
func BenchmarkExplain(b *testing.B) {
	e, err := serve.Open("/tmp/serve/t/demo/ssn", nil)
	if err != nil {
		b.Skip(err)
	}
	x := make([][]float64, 10)
	for i := range x {
		x[i] = []float64{0.3}
	}
	b.ReportAllocs()
	for b.Loop() {
		rows := serve.NewRows(1)
		for i, c := range e.Columns() {
			rows.AddNumbers(c.Name, x[i])
		}
		if _, _, err := e.Explain(b.Context(), rows, false, data.NAError); err != nil {
			b.Fatal(err)
		}
	}
}

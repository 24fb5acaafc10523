package wiring

import (
	"strings"
	"testing"

	"github.com/pho-go/pho/decompose"
)

// TestEnginesApart: rounding of float32 between the engines says nothing, more is a warning, another function an error.
func TestEnginesApart(t *testing.T) {
	r := &decompose.Result{Predictors: []decompose.Predictor{{Name: "eta", Variance: decompose.Variance{Total: 4}}}}
	for _, c := range []struct {
		largest     float64
		notes       int
		says, fault string
	}{
		{0, 1, "", ""},
		{1.9e-5, 1, "", ""},
		{2.3e-5, 2, `on the first 16 rows predictor "eta" by ONNX Runtime 1.2.3 and by pho's own engine differ by up to 2.3e-05, which is 1.2e-05 standard deviations`, ""},
		{0.021, 0, "", "they compute different functions"},
	} {
		notes, err := (&comparison{engine: &Engine{ONNXRuntime, "1.2.3"}, rows: 16, largest: []float64{c.largest}}).judged(r)
		if (err != nil) != (c.fault != "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%g apart: error %v, want %q", c.largest, err, c.fault)
		}
		if len(notes) != c.notes || !strings.Contains(strings.Join(notes, "\n"), c.says) {
			t.Errorf("%g apart: %q, want %q among %d", c.largest, notes, c.says, c.notes)
		}
	}
}

package native

import (
	"math"
	"testing"

	"github.com/pho-go/pho/data"
)

// TestWithoutFirstBias: with one hidden layer of ReLU units and no biases there,
// the network is linear on every ray from the columns' means.
func TestWithoutFirstBias(t *testing.T) {
	tab := simulated(t, 300, 9)
	train := whole(t, tab)
	names := []string{"x1", "x2"}
	bent := func(without bool) float64 {
		m, _ := mustTrain(t, Config{Architecture: MLP, Response: "y", Deep: Deep{Columns: names, Hidden: []int{20}, WithoutFirstBias: without},
			Training: Training{Epochs: 20, ValidationShare: -1}}, tab)
		b := data.NewBatch(3, 0)
		for j, name := range names {
			v, err := train.Numeric(name)
			if err != nil {
				t.Fatal(err)
			}
			mean := 0.0
			for _, x := range v {
				mean += x / float64(len(v))
			}
			d := []float64{0.4, -0.3}[j]
			if err := b.SetNumeric(name, []float64{mean, mean + d, mean + 2*d}); err != nil {
				t.Fatal(err)
			}
		}
		eta := etaOf(t, m, b)
		return math.Abs(eta.At(2, 0) - 2*eta.At(1, 0) + eta.At(0, 0))
	}
	if without, with := bent(true), bent(false); !(without < 1e-9 && with > 1e-3) {
		t.Errorf("on a ray from the means the second difference is %g without biases, %g with them", without, with)
	}
}

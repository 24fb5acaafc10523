package importance

import (
	"math"
	"testing"

	"github.com/pho-go/pho/family"
)

// TestNullDevianceOfClasses: the frequencies of the classes are the intercepts' model, whose
// deviance the family gives; sums merge, and a class that no row has counts for nothing.
func TestNullDevianceOfClasses(t *testing.T) {
	f, err := family.NewCategorical(4, -1)
	if err != nil {
		t.Fatal(err)
	}
	y, w := []float64{0, 1, 1, 3, 1, 0}, []float64{1, 2, 0.5, 3, 0, 1}
	eta := [][]float64{{1, 0, 0, 0}, {0, 0, 0, 2}, {0, 3, 0, 0}, {0, 0, 0, 1}, {9, 0, 0, 0}, {0, 0, 5, 0}}
	one, first, rest := classes{of: make([]float64, 4)}, classes{of: make([]float64, 4)}, classes{of: make([]float64, 4)}
	total := map[float64]float64{0: 2, 1: 2.5, 3: 3}
	sum := 0.0
	for i := range y {
		one.add(f, y[i], w[i], eta[i])
		if i < 2 {
			first.add(f, y[i], w[i], eta[i])
		} else {
			rest.add(f, y[i], w[i], eta[i])
		}
		frequencies := []float64{math.Log(total[0]), math.Log(total[1]), math.Inf(-1), math.Log(total[3])}
		sum += f.Deviance(y[i], w[i], frequencies)
	}
	if math.Abs(one.nullDeviance()-sum) > 1e-12*sum {
		t.Errorf("null deviance %g, at the frequencies it is %g", one.nullDeviance(), sum)
	}
	if one.right != 4.5 || one.w != 7.5 || maximum(one.of) != 3 {
		t.Errorf("right %g of %g, most %g", one.right, one.w, maximum(one.of))
	}
	first.merge(rest)
	if first.right != one.right || first.nullDeviance() != one.nullDeviance() {
		t.Errorf("merged %+v, in one %+v", first, one)
	}
}

// Sums that leave out other things do not add up.
func TestOtherDropsAreRefused(t *testing.T) {
	if err := (&sums{without: make([]fit, 1)}).Add(&sums{without: make([]fit, 2)}); err == nil {
		t.Error("sums without 1 and without 2 features were added")
	}
}

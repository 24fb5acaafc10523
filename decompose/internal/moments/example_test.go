package moments_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/design"
)

// Two workers sum two chunks of rows of one linear column and one factor; the
// shards merge to the moments of all rows, from which a slope follows.
func Example() {
	layout := moments.Layout{
		Bases:      []moments.Basis{{Name: "year", Dim: 1}, {Name: "dow", Dim: 2}},
		Predictors: [][]int{{0, 1}},
		Responses:  1,
	}
	shard := func(number int, years []float64, days []int32, zeta []float64) *moments.Sum {
		b := moments.NewChunk(layout)
		err := b.Add([]design.Columns{
			design.Dense{Dense: mat.NewDense(len(years), 1, years)},
			&design.Codes{D: 2, Code: days},
		}, nil, mat.NewDense(len(zeta), 1, zeta))
		if err != nil {
			fmt.Println(err)
		}
		s := moments.NewSum(layout, number)
		if err := s.Append(b.Moments()); err != nil {
			fmt.Println(err)
		}
		return s
	}
	first := shard(0, []float64{2013, 2014, 2015}, []int32{0, 1, 0}, []float64{1, 3, 5})
	second := shard(1, []float64{2016, 2017}, []int32{1, 0}, []float64{7, 9})
	if err := first.Merge(second); err != nil {
		fmt.Println(err)
	}
	v := first.Total().Predictor(0)
	fmt.Printf("rows %d, mean year %g, share of dow 0 %.1f\n", v.Rows, v.Mean[0], v.Mean[1])
	fmt.Printf("centred sum of squares %.6g, slope %.6g\n", v.XX.At(0, 0), v.XR[0]/v.XX.At(0, 0))
	// Output:
	// rows 5, mean year 2015, share of dow 0 0.6
	// centred sum of squares 10, slope 2
}

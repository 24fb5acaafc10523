package design_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/design"
)

// The product of a factor with itself is the table of its levels' weights.
func ExampleAddCross() {
	dow := &design.Codes{D: 3, Code: []int32{0, 2, 2, -1, 0}}
	x := design.Dense{Dense: mat.NewDense(5, 1, []float64{1, 2, 3, 4, 5})}
	w := []float64{1, 1, 0.5, 1, 1}
	levels, sums := mat.NewDense(3, 3, nil), mat.NewDense(3, 1, nil)
	if err := design.AddCross(levels, dow, dow, w); err != nil {
		fmt.Println(err)
	}
	if err := design.AddCross(sums, dow, x, w); err != nil {
		fmt.Println(err)
	}
	fmt.Println(mat.Formatted(levels))
	fmt.Println(mat.Formatted(sums))
	// Output:
	// ⎡  2    0    0⎤
	// ⎢  0    0    0⎥
	// ⎣  0    0  1.5⎦
	// ⎡  6⎤
	// ⎢  0⎥
	// ⎣3.5⎦
}

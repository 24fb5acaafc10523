package basis_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// flights are the rows of the examples below.
func flights() *data.Table {
	rows := data.NewTable(6)
	_ = rows.AddTexts("origin", []string{"JFK", "EWR", "EWR", "JFK", "LGA", "LGA"})
	_ = rows.AddTexts("dest", []string{"LAX", "SFO", "LAX", "LAX", "SFO", "SFO"})
	_ = rows.AddNumeric("lon", []float64{0, 1, 2, 3, 4, 5})
	_ = rows.AddNumeric("lat", []float64{3, 1, 4, 1, 5, 9})
	return rows
}

// show prepares the specs on the rows and prints what they became.
func show(rows *data.Table, specs ...decompose.Spec) {
	blocks, err := decompose.Prepare(context.Background(), rows, specs, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range blocks {
		fmt.Printf("%s: %s of %d columns, %d penalties, %s\n", b.Term.Name(), b.Term.Kind(), b.Term.Dim(), len(b.Penalty.S), b.Constraint)
	}
}

func ExampleLinear() {
	show(flights(), basis.Linear("lon"))
	// Output: lon: linear of 1 columns, 0 penalties, free
}

func ExampleFactor() {
	show(flights(),
		basis.Factor("origin", nil),
		basis.Factor("dest", &basis.FactorOptions{SumToZero: true}))
	// Output:
	// origin: factor of 3 columns, 0 penalties, treatment
	// dest: factor of 2 columns, 0 penalties, orthogonal
}

// A column for each pair of levels that occurs, and a slope for each origin.
func ExampleInteraction() {
	origin, dest := basis.Variable{Column: "origin", Factor: true}, basis.Variable{Column: "dest", Factor: true}
	show(flights(),
		basis.Interaction("", origin, dest),
		basis.Interaction("", origin, basis.Variable{Column: "lat"}))
	// Output:
	// origin:dest: factor of 4 columns, 0 penalties, free
	// origin:lat: linear of 3 columns, 0 penalties, free
}

func ExampleRandomEffect() {
	show(flights(), basis.RandomEffect(nil, basis.Variable{Column: "origin", Factor: true}))
	// Output: s(origin): random of 3 columns, 1 penalties, free
}

// A thin plate spline of two columns, and one for each level of a factor.
func ExampleSurface() {
	columns, plate := []string{"lon", "lat"}, basis.TP{K: 4}
	show(flights(),
		basis.Surface(columns, plate, nil),
		basis.Surface(columns, plate, &basis.SmoothOptions{By: "dest"}))
	// Output:
	// s(lon,lat): smooth of 4 columns, 1 penalties, sum-to-zero
	// s(lon,lat):destLAX: smooth of 4 columns, 1 penalties, sum-to-zero
	// s(lon,lat):destSFO: smooth of 4 columns, 1 penalties, sum-to-zero
}

// The tensor product of two splines has a penalty for each margin.
func ExampleTensor() {
	margins := []basis.Margin{{Columns: []string{"lon"}, Basis: basis.CR{K: 4}}, {Columns: []string{"lat"}, Basis: basis.CR{K: 3}}}
	show(flights(),
		basis.Tensor(margins, nil),
		basis.Tensor(margins, &basis.TensorOptions{Interaction: true}))
	// Output:
	// te(lon,lat): tensor of 12 columns, 2 penalties, sum-to-zero
	// ti(lon,lat): tensor of 12 columns, 2 penalties, free
}

// A smooth of lon for each origin, with one penalty on curvature and one for each
// direction of the null space.
func ExampleFactorSmooth() {
	show(flights(), basis.FactorSmooth("lon", "origin", basis.CR{K: 3}, nil))
	// Output: s(lon,origin): random of 9 columns, 3 penalties, free
}

// A spline is a polynomial between its breaks, which is how it is written to other
// formats.
func ExampleSmoothTerm_Pieces() {
	spec := basis.Smooth("lon", basis.CR{Knots: []float64{0, 2, 5}}, nil)
	blocks, err := decompose.Prepare(context.Background(), flights(), []decompose.Spec{spec}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	pieces, ok := blocks[0].Term.(*basis.SmoothTerm).Pieces()
	fmt.Println(pieces.Breaks, pieces.Degree, ok)
	x, row := data.NewBatch(1, 0), mat.NewDense(1, 3, nil)
	_ = x.SetNumeric("lon", []float64{2})
	_ = blocks[0].Term.Eval(row, x)
	fmt.Println(row.RawRowView(0))
	// Output:
	// [0 2 5] 3 true
	// [0 1 0]
}

package basis_test

import (
	"context"
	"encoding/json"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

func ExampleParse() {
	schema := data.Schema{{Name: "y", Numeric: true}, {Name: "temp", Numeric: true}, {Name: "dow", Categorical: true}}
	f, err := basis.Parse(`y ~ dow + s(temp, bs="cr", k=5)`, &basis.Options{Schema: schema})
	if err != nil {
		fmt.Println(err)
		return
	}
	rows := data.NewTable(6)
	_ = rows.AddNumeric("temp", []float64{3, 1, 4, 15, 9, 2})
	_ = rows.AddTexts("dow", []string{"mon", "fri", "fri", "mon", "fri", "mon"})
	blocks, err := decompose.Prepare(context.Background(), rows, f.Specs, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range blocks {
		fmt.Println(b.Term.Name(), b.Term.Kind(), b.Term.Dim(), len(b.Penalty.S))
	}
	_, err = basis.Parse(`y ~ s(tmep, bs="cr")`, &basis.Options{Schema: schema})
	fmt.Println(err)
	// Output:
	// dow factor 2 0
	// s(temp) smooth 5 1
	// formula, character 7: there is no column "tmep"; did you mean "temp"?
	//   y ~ s(tmep, bs="cr")
	//         ^
}

func ExampleSmooth() {
	table, rows := data.NewTable(5), data.NewBatch(5, 0)
	_ = table.AddNumeric("x", []float64{0, 1, 2, 3, 4})
	_ = rows.SetNumeric("x", []float64{0, 1, 2, 3, 4})
	spec := basis.Smooth("x", basis.PS{K: 4, Knots: []float64{0, 4}}, nil)
	blocks, err := decompose.Prepare(context.Background(), table, []decompose.Spec{spec}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	x := mat.NewDense(5, 4, nil)
	if err := blocks[0].Term.Eval(x, rows); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f\n", mat.Formatted(x))
	// Output:
	// ⎡0.166  0.667  0.167  0.000⎤
	// ⎢0.070  0.612  0.315  0.003⎥
	// ⎢0.021  0.479  0.479  0.021⎥
	// ⎢0.003  0.315  0.612  0.070⎥
	// ⎣0.000  0.167  0.667  0.166⎦
}

func ExampleDecode() {
	term, err := basis.Decode("factor", json.RawMessage(`{"column": "dow", "levels": ["fri", "mon"]}`))
	fmt.Println(term.Name(), term.Dim(), err)
	_, err = basis.Decode("smooth", json.RawMessage(`{"bs": "tp"}`))
	fmt.Println(err)
	// Output:
	// dow 2 <nil>
	// basis: the spec of a smooth term: the column's name is empty
}

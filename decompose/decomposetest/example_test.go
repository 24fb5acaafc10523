package decomposetest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/decomposetest"
)

// square is a Term of one's own: the square of a column, about its mean if centred.
type square struct {
	Column  string
	centred bool
}

func (s *square) Name() string         { return s.Column + "^2" }
func (s *square) Kind() decompose.Kind { return "square" }
func (s *square) Columns() []string    { return []string{s.Column} }
func (s *square) Dim() int             { return 1 }
func (s *square) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"column": s.Column})
}

func (s *square) Eval(dst *mat.Dense, b *data.Batch) error {
	x, err := b.Numeric(s.Column)
	if err != nil {
		return err
	}
	mean := 0.0
	for _, v := range x {
		if s.centred {
			mean += v / float64(len(x))
		}
	}
	for i, v := range x {
		dst.Set(i, 0, (v-mean)*(v-mean))
	}
	return nil
}

// A term is tested on a few rows. One that centres by the rows it is given is found out:
// it would be another term on new rows.
func ExampleTerm() {
	b := data.NewBatch(3, 0)
	if err := b.SetNumeric("x", []float64{1, 2, 4.5}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(decomposetest.Term(&square{Column: "x"}, b))
	fmt.Println(decomposetest.Term(&square{Column: "x", centred: true}, b))
	// Output:
	// <nil>
	// term "x^2": row 0, column 0 is 2.25 in the batch and 0 alone: a row may depend on itself only
	// term "x^2": row 1, column 0 is 0.25 in the batch and 0 alone: a row may depend on itself only
	// term "x^2": row 2, column 0 is 4 in the batch and 0 alone: a row may depend on itself only
	// term "x^2": row 1, column 0 changes with the rows before it
	// term "x^2": row 2, column 0 changes with the rows before it
}

// distance is a black box: how far a row lies from a place; relative: from the first row of its batch.
type distance struct{ relative bool }

func (d distance) Eta(_ context.Context, dst *mat.Dense, b *data.Batch) error {
	x, err := b.Numeric("x")
	if err != nil {
		return err
	}
	from := 1.0
	if d.relative {
		from = x[0]
	}
	for i, v := range x {
		dst.Set(i, 0, math.Abs(v-from))
	}
	return nil
}

// A model without any structure has one method. What it says of a row may not depend on other rows.
func ExampleBlackBox() {
	b := data.NewBatch(3, 0)
	if err := b.SetNumeric("x", []float64{1, 2, 4.5}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(decomposetest.BlackBox(distance{}, []string{"x"}, 1, b))
	fmt.Println(decomposetest.BlackBox(distance{relative: true}, []string{"x"}, 1, b))
	// Output:
	// <nil>
	// model: zeta, row 1, column 0 is 0 alone and 1 in the batch
	// model: zeta, row 2, column 0 is 0 alone and 3.5 in the batch
	// model: zeta, row 1, column 0 is 0 without the rows before it and 1 in the batch
}

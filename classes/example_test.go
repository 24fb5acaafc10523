package classes_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/classes"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// logits are three lines in x, and x squared, which all classes have in common.
type logits struct{ line *decompose.LinearTerm }

func (l *logits) Predictors() []string  { return []string{"p1", "p2", "p3"} }
func (l *logits) Columns() []string     { return []string{"x"} }
func (l *logits) Intercept(int) float64 { return 0 }
func (l *logits) Taps() map[string]int  { return nil }

func (l *logits) Blocks(k int) []decompose.Block {
	return []decompose.Block{{Term: l.line, Coef: []float64{float64(k)}}}
}

func (l *logits) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	x, err := b.Numeric("x")
	if err != nil {
		return err
	}
	for i, v := range x {
		for k := range 3 {
			dst.Zeta.Set(i, k, v*v)
			dst.Eta.Set(i, k, float64(k)*v+v*v)
		}
	}
	return ctx.Err()
}

// The slopes 0, 1 and 2 of three logits are known up to a constant, and their common square
// not at all: centred over the classes they are -1, 0 and 1, and nothing is left.
func ExampleNew() {
	head := classes.Head{Predictors: []int{0, 1, 2}, Classes: []string{"low", "middle", "high"}}
	m, err := classes.New(&logits{&decompose.LinearTerm{Column: "x"}}, []classes.Head{head}, "")
	if err != nil {
		log.Fatal(err)
	}
	b := data.NewBatch(1, 0)
	if err := b.SetNumeric("x", []float64{3}); err != nil {
		log.Fatal(err)
	}
	out := &decompose.Outputs{Zeta: mat.NewDense(1, 3, nil), Eta: mat.NewDense(1, 3, nil)}
	if err := m.Forward(context.Background(), out, b); err != nil {
		log.Fatal(err)
	}
	for k, name := range m.Predictors() {
		fmt.Println(name, "slope", m.Blocks(k)[0].Coef[0], "eta", out.Eta.At(0, k), "deep", out.Zeta.At(0, k))
	}
	// Output:
	// low slope -1 eta -3 deep 0
	// middle slope 0 eta 0 deep 0
	// high slope 1 eta 3 deep 0
}

package decompose_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// semi is a semi-structured network: eta = 1 + 0.5 x + zeta, where the deep part
// zeta = x^2 holds a linear effect of x, too.
type semi struct{ x decompose.LinearTerm }

func (m *semi) Predictors() []string  { return []string{"eta"} }
func (m *semi) Columns() []string     { return []string{"x"} }
func (m *semi) Intercept(int) float64 { return 1 }
func (m *semi) Taps() map[string]int  { return nil }

func (m *semi) Blocks(int) []decompose.Block {
	return []decompose.Block{{Term: &m.x, Coef: []float64{0.5}}}
}

func (m *semi) Forward(_ context.Context, dst *decompose.Outputs, b *data.Batch) error {
	x, err := b.Numeric("x")
	if err != nil {
		return err
	}
	for i, v := range x {
		dst.Zeta.Set(i, 0, v*v)
		dst.Eta.Set(i, 0, 1+0.5*v+v*v)
	}
	return nil
}

// uniform are n rows with x in [0, 1].
func uniform(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = (float64(i) + 0.5) / float64(n)
	}
	return x
}

func columnX(x []float64) *data.Table {
	t := data.NewTable(len(x))
	if err := t.AddNumeric("x", x); err != nil {
		panic(err)
	}
	return t
}

// Any network is a Model: here a Go type. What x explains of its deep part moves to the
// term of x, and predictions stay as they are.
func ExampleDecompose() {
	m := &semi{decompose.LinearTerm{Column: "x"}}
	r, err := decompose.Decompose(context.Background(), m, columnX(uniform(1000)), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := r.Predictors[0]
	t := p.Terms[0]
	fmt.Printf("slope of %s: %.2f + %.2f\n", t.Name, t.Beta[0], t.Alpha[0])
	fmt.Printf("variance of eta in the deep part: %.1f %% before, %.1f %% after\n",
		100*p.VarianceBefore.Unstructured/p.VarianceBefore.Total, 100*p.Variance.Unstructured/p.Variance.Total)
	fmt.Printf("correlation of the deep part with x below 1e-9: %t\n", p.Orthogonality < 1e-9)
	// Output:
	// slope of x: 0.50 + 1.00
	// variance of eta in the deep part: 46.0 % before, 2.9 % after
	// correlation of the deep part with x below 1e-9: true
}

// New rows are split with the coefficients and means of the rows that were decomposed.
func ExampleApplier() {
	m := &semi{decompose.LinearTerm{Column: "x"}}
	r, err := decompose.Decompose(context.Background(), m, columnX(uniform(1000)), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := r.Applier(m)
	if err != nil {
		fmt.Println(err)
		return
	}
	for parts, err := range a.All(context.Background(), columnX([]float64{0, 2})) {
		if err != nil {
			fmt.Println(err)
			return
		}
		d := parts.Predictors[0]
		for i, eta := range d.Eta {
			fmt.Printf("%.2f = intercept %.2f + x %.2f + deep %.2f\n", eta, d.Intercept, d.Row(i)[0], d.Unstructured[i])
		}
	}
	// Output:
	// 1.00 = intercept 1.58 + x -0.75 + deep 0.17
	// 6.00 = intercept 1.58 + x 2.25 + deep 2.17
}

// Rows in two places: each accumulates its own, and whoever merges and solves sees no
// row. Shards that begin at multiples of ChunkRows give the bytes of a single pass.
func ExampleStatistics_Merge() {
	ctx, m := context.Background(), &semi{decompose.LinearTerm{Column: "x"}}
	x := uniform(6000)
	cut, err := decompose.ChunkRows(m)
	if err != nil {
		fmt.Println(err)
		return
	}
	accumulate := func(x []float64, firstChunk int) *decompose.Statistics {
		o := &decompose.Options{Resources: decompose.Resources{FirstChunk: firstChunk}}
		s, err := decompose.Accumulate(ctx, m, columnX(x), o)
		if err != nil {
			panic(err)
		}
		return s
	}
	whole, here, there := accumulate(x, 0), accumulate(x[:cut], 0), accumulate(x[cut:], 1)
	if err := here.Merge(there); err != nil { // there would come as bytes: MarshalBinary
		fmt.Println(err)
		return
	}
	merged, err := here.MarshalBinary()
	if err != nil {
		fmt.Println(err)
		return
	}
	single, err := whole.MarshalBinary()
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := decompose.Solve(ctx, m, here, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d rows, the bytes of one pass: %t\n", here.Rows(), bytes.Equal(merged, single))
	fmt.Printf("slope of x: %.2f + %.2f\n", r.Predictors[0].Terms[0].Beta[0], r.Predictors[0].Terms[0].Alpha[0])
	// Output:
	// 6000 rows, the bytes of one pass: true
	// slope of x: 0.50 + 1.00
}

package pho_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"

	"github.com/pho-go/pho"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// A network that PyTorch trained (the first of `pho demo`: linear effects of ten columns
// and a deep part) is decomposed with a spline added; the result is written, read, and
// applied to rows that it has not seen.
func Example() {
	ctx := context.Background()
	rows, more := draw(1, 2000), draw(2, 3)
	d, err := pho.Decompose(ctx, "internal/command/demo/ssn.onnx", rows, &pho.Options{Formula: `y ~ s(x3, bs="ps", k=20)`})
	if err != nil {
		log.Fatal(err)
	}
	p := d.Result.Predictors[0]
	fmt.Printf("structured: %.0f %% of the network's variance, before %.0f %%\n",
		100*p.Variance.Structured/p.Variance.Total, 100*p.VarianceBefore.Structured/p.VarianceBefore.Total)
	last := p.Terms[len(p.Terms)-1]
	fmt.Printf("%s: %.1f degrees of freedom, standard deviation %.2f\n", last.Name, last.EDF, math.Sqrt(last.After.Variance))

	dir, err := os.MkdirTemp("", "result")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := d.Write(ctx, dir); err != nil { // dir/report.html is for people
		log.Fatal(err)
	}
	if d, err = pho.Read(dir); err != nil {
		log.Fatal(err)
	}
	for parts, err := range d.Parts(ctx, more) {
		if err != nil {
			log.Fatal(err)
		}
		eta := parts.Predictors[0]
		for i := range parts.Batch.Rows() {
			sum := eta.Intercept + eta.Unstructured[i]
			for _, term := range eta.Terms.RawRowView(i) {
				sum += term
			}
			fmt.Printf("row %d: the network says %.3f, the parts sum to %.3f\n", parts.Batch.Row(i), eta.Eta[i], sum)
		}
	}
	// Output:
	// structured: 60 % of the network's variance, before 6 %
	// s(x3): 13.7 degrees of freedom, standard deviation 2.12
	// row 0: the network says 14.458, the parts sum to 14.458
	// row 1: the network says 4.253, the parts sum to 4.253
	// row 2: the network says -1.170, the parts sum to -1.170
}

// A model that is Go code, and no network at all, is decomposed like one: the report is
// written, and the result is read with the model, which no file holds.
func ExampleDecomposeModel() {
	ctx := context.Background()
	rows := draw(1, 2000)
	d, err := pho.DecomposeModel(ctx, plane{}, rows, &pho.Options{Formula: "~ s(x0) + x1"})
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "result")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := d.Write(ctx, dir); err != nil { // dir/report.html is for people
		log.Fatal(err)
	}
	if d, err = pho.ReadModel(dir, plane{}); err != nil {
		log.Fatal(err)
	}
	p := d.Result.Predictors[0]
	for _, term := range p.Terms {
		fmt.Printf("%s: standard deviation %.2f\n", term.Name, math.Sqrt(term.After.Variance))
	}
	fmt.Printf("left: %.0f %% of the variance, by %s\n", 100*p.Variance.Unstructured/p.Variance.Total, p.Remainder.Pairs[0].Term)
	// Output:
	// s(x0): standard deviation 0.64
	// x1: standard deviation 1.98
	// left: 5 % of the variance, by ti(x0, x1)
}

// plane is a function of two columns.
type plane struct{}

func (plane) Predictors() []string         { return []string{"height"} }
func (plane) Columns() []string            { return []string{"x0", "x1"} }
func (plane) Intercept(int) float64        { return 0 }
func (plane) Blocks(int) []decompose.Block { return nil } // no terms of its own
func (plane) Taps() map[string]int         { return nil } // and no learned bases

func (plane) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	x0, err := b.Numeric("x0")
	if err != nil {
		return err
	}
	x1, err := b.Numeric("x1")
	if err != nil {
		return err
	}
	for i := range x0 {
		height := math.Sin(x0[i]) + 2*x1[i] + 0.5*x0[i]*x1[i]
		dst.Eta.Set(i, 0, height)  // what the model predicts
		dst.Zeta.Set(i, 0, height) // all of it is deep: no term holds any
	}
	return ctx.Err()
}

// draw makes rows in memory; pho.OpenRows("rows.csv") reads them from files.
func draw(seed uint64, n int) *data.Table {
	random := rand.New(rand.NewPCG(seed, 0))
	rows, y := data.NewTable(n), make([]float64, n)
	for j := range 10 {
		x := make([]float64, n)
		for i := range x {
			x[i] = random.NormFloat64()
			y[i] += math.Sin(x[i])
		}
		if err := rows.AddNumeric(fmt.Sprintf("x%d", j), x); err != nil {
			log.Fatal(err)
		}
	}
	if err := rows.AddNumeric("y", y); err != nil {
		log.Fatal(err)
	}
	return rows
}

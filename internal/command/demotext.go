package command

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/importance"
	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/app/wiring"
)

// at is the path of something in the demo's directory, as a shell takes it.
func (d *demoFlags) at(name ...string) string {
	return shown(shellWord(filepath.Join(append([]string{d.out}, name...)...)))
}

// curves shows a network that is built to be read, and is not, and what becomes of it.
func (d *demoFlags) curves(ctx context.Context, w io.Writer, table *data.Table) error {
	fmt.Fprintf(w, `1. A network that looks as if it could be read

A network predicts y from ten columns, x0 to x9. PyTorch trained it, as anybody
would have: it is the file %s. In %s are
%d rows to ask it about.

Its authors wanted to see what it does with each column. So it has a small
network for every column, each of which draws a curve, and a large network of
all columns together for whatever curves cannot say. It predicts their sum:

    prediction = curve of x0 + curve of x1 + ... + curve of x9 + large network

But nothing in training said which part has to learn what. The large network can
learn the effect of a column as well as the column's own curve can, and it did.
pho finds what each column's curve has to be:

$ pho decompose --model %s --data %s \
    --response y --out %s

`, d.at("nam.onnx"), d.at("data.csv"), d.rows, d.at("nam.onnx"), d.at("data.csv"), d.at("nam"))
	r, a, err := d.decompose(ctx, "nam")
	if err != nil {
		return err
	}
	if err := d.picture(ctx, w, r, a, table); err != nil {
		return err
	}
	p := &r.Predictors[0]
	fmt.Fprintf(w, `
Of what makes predictions differ from row to row, the curves held %s before,
and hold %s after: pho moved to the curves all that curves can say. What is
left in the large network are joint effects of columns, if there are any.

The predictions are the same as before: what a curve gains, the large network
loses. Row 1 of the data:

`, wiring.Percent(importance.ExplainedVariance(p.VarianceBefore).Structured), wiring.Percent(importance.ExplainedVariance(p.Variance).Structured))
	if err := sameSum(ctx, w, r, a, table); err != nil {
		return err
	}
	fmt.Fprint(w, `
So the curves can now be shown as what the network has learned of each column.
Here the true functions are known, since the data are made from them. How far
each curve is from the true one, on average:

`)
	return distances(ctx, w, r, a, table)
}

// lines shows a network without curves, which get them by a formula.
func (d *demoFlags) lines(ctx context.Context, w io.Writer, table *data.Table) error {
	var terms []string
	for j := range demoFunctions() {
		terms = append(terms, fmt.Sprintf(`s(x%d, bs="ps", k=20)`, j))
	}
	formula := "y ~ " + strings.Join(terms, " + ")
	r, a, err := d.decompose(ctx, "ssn", formula)
	if err != nil {
		return err
	}
	p := &r.Predictors[0]
	fmt.Fprintf(w, `
2. A network without curves

Most networks have no curves to begin with. %s has a straight
line for each column and a large network beside them; a network with nothing but
the large part works as well. A formula, as statisticians write them, says which
curves there shall be: s(x0) is a smooth curve of x0.

$ pho decompose --model %s --data %s --out %s \
    --formula 'y ~ s(x0, bs="ps", k=20) + s(x1, bs="ps", k=20) + ...'

The lines held %s of what makes predictions differ; lines and curves hold
%s now. How far each column's effect is from the true one:

`, d.at("ssn.onnx"), d.at("ssn.onnx"), d.at("data.csv"), d.at("ssn"),
		wiring.Percent(importance.ExplainedVariance(p.VarianceBefore).Structured), wiring.Percent(importance.ExplainedVariance(p.Variance).Structured))
	if err := distances(ctx, w, r, a, table); err != nil {
		return err
	}
	_, err = fmt.Fprint(w, `
x0 is as far off as before, since this network never learned its effect, a wave:
pho shows what a network does, be it right or wrong.
`)
	return err
}

// next says what there is to look at, and how to begin with a network of one's own.
func (d *demoFlags) next(w io.Writer) {
	fmt.Fprintf(w, `
3. What next

Look at the pictures, in a browser: %s
and %s. In the terminal:

  pho summary %s
  pho explain %s --data %s --row 1

Your own network, exported as ONNX, and the rows that it was made for, as CSV or
Parquet, with a column y to predict:

  pho inspect your.onnx
  pho decompose --model your.onnx --data your.csv --response y --out result

Without a formula pho takes the curves that it finds in the network or, if there
are none, chooses them by what the columns hold. Then open %s.
`, d.at("nam", resultdir.Report), d.at("ssn", resultdir.Report), d.at("nam"), d.at("nam"), d.at("data.csv"), filepath.Join("result", resultdir.Report))
}

// sameSum shows that curves and large network of the first row add up to the same before
// and after.
func sameSum(ctx context.Context, w io.Writer, r *decompose.Result, a *decompose.Applier, table *data.Table) error {
	p := &r.Predictors[0]
	terms := make([]int, len(p.Terms))
	for j := range terms {
		terms[j] = j
	}
	for b, err := range table.Batches(ctx, a.Columns()) {
		if err != nil {
			return err
		}
		first := b.Slice(0, 1)
		e, err := a.SumEffect(ctx, 0, terms, first)
		if err != nil {
			return err
		}
		parts, err := a.Parts(ctx, first)
		if err != nil {
			return err
		}
		eta := parts.Predictors[0].Eta[0]
		fmt.Fprintf(w, "            curves   large network   prediction\n")
		for _, s := range []struct {
			name   string
			curves float64
		}{{"before", p.InterceptBefore + e.Before[0]}, {"after", p.Intercept + e.After[0]}} {
			fmt.Fprintf(w, "  %-6s  %8.4f   %13.4f   %10.4f\n", s.name, s.curves, eta-s.curves, eta)
		}
		return nil
	}
	return nil
}

// distances prints how far each column's curve was and is from the truth.
func distances(ctx context.Context, w io.Writer, r *decompose.Result, a *decompose.Applier, table *data.Table) error {
	functions := demoFunctions()
	apart := [2][]float64{make([]float64, len(functions)), make([]float64, len(functions))}
	for b, err := range data.Rebatch(table.Batches(ctx, table.Schema().Names()), table.Rows()) {
		if err != nil {
			return err
		}
		for j, f := range functions {
			name := fmt.Sprintf("x%d", j)
			before, after, err := curve(ctx, r, a, b, name)
			if err != nil {
				return err
			}
			x, err := b.Numeric(name)
			if err != nil {
				return err
			}
			apart[0][j], apart[1][j] = distance(before, x, f), distance(after, x, f)
		}
	}
	fmt.Fprint(w, "        ")
	for j := range functions {
		fmt.Fprintf(w, "%7s", fmt.Sprintf("x%d", j))
	}
	for i, label := range []string{"before", "after"} {
		fmt.Fprintf(w, "\n%-8s", label)
		for _, v := range apart[i] {
			fmt.Fprintf(w, "%7.2f", v)
		}
	}
	fmt.Fprintln(w)
	return nil
}

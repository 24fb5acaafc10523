// Command phonam analyses a neural additive model with a deep part: PHONAM in both
// variants, shape functions, and orders of interaction.
//
//	go run ./examples/phonam [MODEL.onnx INPUT=COLUMN,... ROWS.csv[.gz]]
//
// Without arguments it trains one on rows that it draws. README.md walks through
// it on a network of COVID-19 in counties, which train.py in this directory makes.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/pho-go/pho/adapters/native"
	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/nam"
)

func main() {
	ctx := context.Background()
	var err error
	switch len(os.Args) {
	case 1:
		err = runTrained(ctx, os.Stdout)
	case 4:
		err = runFile(ctx, os.Stdout, os.Args[1], os.Args[2], os.Args[3])
	default:
		err = errors.New("usage: phonam [MODEL.onnx INPUT=COLUMN,... ROWS.csv]")
	}
	if err != nil {
		log.Fatal(err)
	}
}

// runFile analyses a network from an ONNX file.
func runFile(ctx context.Context, w io.Writer, model, input, rows string) error {
	g, err := onnx.LoadFile(model, nil)
	if err != nil {
		return err
	}
	src, err := data.OpenCSV([]string{rows}, nil)
	if err != nil {
		return err
	}
	defer src.Close()
	name, columns, _ := strings.Cut(input, "=")
	bind, err := onnx.Bind(g, src.Schema(), map[string][]string{name: strings.Split(columns, ",")})
	if err != nil {
		return err
	}
	m, err := onnx.NewModel(g, bind, nil)
	if err != nil {
		return err
	}
	return analyse(ctx, w, m, src)
}

// runTrained analyses a network trained here: curves of x0, x1 and x2, a surface of
// x0 and x1, and a deep part of all three that could do the same.
func runTrained(ctx context.Context, w io.Writer) error {
	src, err := draw(2000)
	if err != nil {
		return err
	}
	columns := []string{"x0", "x1", "x2"}
	m, _, err := native.Train(ctx, native.Config{
		Architecture: native.NAM, Response: "y",
		FeatureNetworks: native.FeatureNetworks{Columns: columns, Products: [][2]string{{"x0", "x1"}}, Hidden: []int{16, 6}, Activation: native.Tanh},
		Deep:            native.Deep{Columns: columns, Hidden: []int{32, 16}},
		Training:        native.Training{Epochs: 60, Seed: 1},
	}, src)
	if err != nil {
		return err
	}
	return analyse(ctx, w, m, src)
}

// draw makes uniform x0, x1 and x2 and a response of their curves, the product of the
// first two, one of all three, and noise.
func draw(n int) (*data.Table, error) {
	random := rand.New(rand.NewPCG(1, 2))
	x := [4][]float64{}
	for range n {
		a, b, c := 2*random.Float64()-1, 2*random.Float64()-1, 2*random.Float64()-1
		for j, v := range []float64{a, b, c, math.Sin(3*a) + b*b + c + a*b + 0.5*a*b*c + 0.3*random.NormFloat64()} {
			x[j] = append(x[j], v)
		}
	}
	rows := data.NewTable(n)
	for j, name := range []string{"x0", "x1", "x2", "y"} {
		if err := rows.AddNumeric(name, x[j]); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// analyse writes both variants and the orders of interaction.
func analyse(ctx context.Context, w io.Writer, m decompose.Model, src data.Source) error {
	for _, v := range []nam.Variant{nam.Learned, nam.Spline} {
		r, err := nam.PHONAM(ctx, m, src, v, nil)
		if err != nil {
			return err
		}
		if err := show(ctx, w, r, m); err != nil {
			return err
		}
	}
	margins, err := withMargins(ctx, m, src)
	if err != nil {
		return err
	}
	r, err := decompose.Decompose(ctx, margins, src, &decompose.Options{Orders: true})
	if err != nil {
		return err
	}
	for _, o := range r.Predictors {
		fmt.Fprintf(w, "\n%s by orders of interaction, on its own learned features and splines of single ones:\n", o.Name)
		for _, d := range o.Orders {
			fmt.Fprintf(w, "  order %d %5.1f %%  %s\n", d.Order, 100*d.Share, strings.Join(d.Terms, ", "))
		}
		fmt.Fprintf(w, "  the rest %4.1f %%\n", 100**o.OrdersRemainder)
	}
	return nil
}

// show writes the headline and how far each feature's curve moved.
func show(ctx context.Context, w io.Writer, r *decompose.Result, m decompose.Model) error {
	d := r.Predictors[0]
	fmt.Fprintf(w, "\nPHONAM %s: structured %.1f %% of the variance (%.1f %% before), deep %.1f %% (%.1f %%), edf %.1f of %d\n", r.PHONAM,
		100*d.Variance.Structured/d.Variance.Total, 100*d.VarianceBefore.Structured/d.VarianceBefore.Total,
		100*d.Variance.Unstructured/d.Variance.Total, 100*d.VarianceBefore.Unstructured/d.VarianceBefore.Total, d.EDF, d.Columns)
	shapes, err := nam.Shapes(ctx, r, m, nil)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  features\tterms\tmoved at most\tits standard error")
	for _, s := range shapes {
		at := 0
		for i := range s.After {
			if math.Abs(s.After[i]-s.Before[i]) > math.Abs(s.After[at]-s.Before[at]) {
				at = i
			}
		}
		se := "not identified"
		if s.SE != nil {
			se = fmt.Sprintf("%.2g", s.SE[at])
		}
		fmt.Fprintf(table, "  %s\t%s\t%.2f\t%s\n", strings.Join(s.Features, ", "), strings.Join(s.Terms, " + "), s.After[at]-s.Before[at], se)
	}
	return table.Flush()
}

// withMargins adds a spline of each feature of a pair that has no term of its own:
// without it main effects would count as interactions.
func withMargins(ctx context.Context, m decompose.Model, src data.Source) (decompose.Model, error) {
	extra := map[string][]decompose.Block{}
	for k, name := range m.Predictors() {
		var features []string
		single := map[string]bool{}
		for _, b := range m.Blocks(k) {
			features = append(features, b.Term.Columns()...)
			if c := b.Term.Columns(); len(c) == 1 {
				single[c[0]] = true
			}
		}
		for _, c := range features {
			if single[c] {
				continue
			}
			single[c] = true
			f, err := basis.Parse(fmt.Sprintf("~ s(`%s`, bs=\"cr\")", c), &basis.Options{Schema: src.Schema()})
			if err != nil {
				return nil, err
			}
			blocks, err := decompose.Prepare(ctx, src, f.Specs, m.Columns())
			if err != nil {
				return nil, err
			}
			extra[name] = append(extra[name], blocks...)
		}
	}
	return decompose.With(m, extra)
}

// Command phonam analyses a neural additive model with a deep part: PHONAM in both
// variants, shape functions, and orders of interaction.
//
//	go run ./examples/phonam MODEL.onnx INPUT=COLUMN,... ROWS.csv[.gz]
//
// docs/phonam.md walks through it on a network of COVID-19 in counties, which
// train.py in this directory makes.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/nam"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: phonam MODEL.onnx INPUT=COLUMN,... ROWS.csv")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Stdout, os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, w io.Writer, model, input, rows string) error {
	g, err := onnx.LoadFile(model, nil)
	if err != nil {
		return err
	}
	src, err := data.OpenCSV([]string{rows}, nil)
	if err != nil {
		return err
	}
	defer src.Close()
	bind, err := onnx.Bind(g, src.Schema(), []string{input})
	if err != nil {
		return err
	}
	m, err := onnx.NewModel(g, bind, nil)
	if err != nil {
		return err
	}
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
	orders, _, err := nam.Orders(ctx, margins, src, nil)
	if err != nil {
		return err
	}
	for _, o := range orders {
		fmt.Fprintf(w, "\n%s by orders of interaction, on its own learned features and splines of single ones:\n", o.Predictor)
		for _, d := range o.Orders {
			fmt.Fprintf(w, "  order %d %5.1f %%  %s\n", d.Order, 100*d.Share, strings.Join(d.Terms, ", "))
		}
		fmt.Fprintf(w, "  the rest %4.1f %%\n", 100*o.Remainder/o.Total)
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
			if err := decompose.Scan(ctx, src, f.Specs, m.Columns()); err != nil {
				return nil, err
			}
			blocks, err := decompose.Build(f.Specs)
			if err != nil {
				return nil, err
			}
			extra[name] = append(extra[name], blocks...)
		}
	}
	return decompose.With(m, extra)
}

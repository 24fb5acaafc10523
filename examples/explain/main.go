// Command explain shows the calls that a tool for interpreting models makes: it reads
// the artifact of a decomposition once, then answers for single rows with their
// contributions and standard errors, and with the curves behind them, as JSON.
//
//	go run ./examples/explain
//
// The network is that of the demo; the artifact is made here, as `pho decompose` would.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/nam"
)

func main() {
	if err := run(context.Background(), os.Stdout, "internal/command/demo/ssn.onnx"); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, w io.Writer, network string) error {
	graph, err := onnx.LoadFile(network, nil)
	if err != nil {
		return err
	}
	rows, err := draw(2000)
	if err != nil {
		return err
	}
	bind, err := onnx.Bind(graph, rows.Schema(), nil)
	if err != nil {
		return err
	}
	model, err := onnx.NewModel(graph, bind, nil)
	if err != nil {
		return err
	}
	doc, moments, err := artifact(ctx, model, rows)
	if err != nil {
		return err
	}

	// From here on nothing but the artifact and the network is needed.
	result, err := decompose.Read(doc, moments, basis.Decode)
	if err != nil {
		return err
	}
	applier, err := result.Applier(model)
	if err != nil {
		return err
	}
	x := &explainer{result, applier}
	for b, err := range rows.Batches(ctx, x.applier.Columns()) {
		if err != nil {
			return err
		}
		answers, err := x.explain(ctx, b.Slice(0, 1))
		if err != nil {
			return err
		}
		if err := write(w, answers[0]); err != nil {
			return err
		}
		// A tool draws the curves that the contributions lie on next to them.
		shapes, err := nam.Shapes(ctx, result, model, &nam.ShapeOptions{Points: 5})
		if err != nil {
			return err
		}
		return write(w, shapes[0])
	}
	return nil
}

// draw makes standard normal columns x0 to x9.
func draw(n int) (*data.Table, error) {
	random := rand.New(rand.NewPCG(1, 2))
	rows := data.NewTable(n)
	for j := range 10 {
		x := make([]float64, n)
		for i := range x {
			x[i] = random.NormFloat64()
		}
		if err := rows.AddNumeric(fmt.Sprintf("x%d", j), x); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// artifact decomposes the network: its own linear terms and two splines. The two
// documents are the files decomposition.json and moments.bin of the command.
func artifact(ctx context.Context, model decompose.Model, rows data.Source) (doc, moments io.Reader, err error) {
	f, err := basis.Parse(`~ s(x2, bs="ps") + s(x5, bs="cr")`, &basis.Options{Schema: rows.Schema()})
	if err != nil {
		return nil, nil, err
	}
	blocks, err := decompose.Prepare(ctx, rows, f.Specs, model.Columns())
	if err != nil {
		return nil, nil, err
	}
	m, err := decompose.With(model, map[string][]decompose.Block{"": blocks})
	if err != nil {
		return nil, nil, err
	}
	result, err := decompose.Decompose(ctx, m, rows, nil)
	if err != nil {
		return nil, nil, err
	}
	var d, sums bytes.Buffer
	if err := result.EncodeMoments(&sums); err != nil {
		return nil, nil, err
	}
	return &d, &sums, result.Encode(&d)
}

// Answer explains one row: intercept, parts and unstructured add up to eta.
type Answer struct {
	Predictor    string  `json:"predictor"`
	Eta          float64 `json:"eta"`
	Intercept    float64 `json:"intercept"`
	Parts        []Part  `json:"parts"`
	Unstructured float64 `json:"unstructured"` // what no term explains
}

// Part is what all terms on the same features contribute: x2 and s(x2) are one part,
// for only their sum is identified.
type Part struct {
	Features     []string `json:"features"`
	Terms        []string `json:"terms"`
	Contribution float64  `json:"contribution"`
	SE           float64  `json:"se"` // of what moved from the deep part
}

// explainer is prepared once and answers for any number of rows, concurrently.
type explainer struct {
	result  *decompose.Result
	applier *decompose.Applier
}

// explain answers for the one row of b: an answer for each predictor.
func (x *explainer) explain(ctx context.Context, b *data.Batch) ([]Answer, error) {
	parts, err := x.applier.Parts(ctx, b)
	if err != nil {
		return nil, err
	}
	var answers []Answer
	for k, p := range parts.Predictors {
		d := x.result.Predictors[k]
		a := Answer{Predictor: d.Name, Eta: p.Eta[0], Intercept: p.Intercept, Unstructured: p.Unstructured[0]}
		for _, terms := range byFeatures(d.Terms) {
			e, err := x.applier.SumEffect(ctx, k, terms, b)
			if err != nil {
				return nil, err
			}
			part := Part{Features: d.Terms[terms[0]].Features, Contribution: e.After[0], SE: e.SE[0]}
			for _, j := range terms {
				part.Terms = append(part.Terms, d.Terms[j].Name)
			}
			a.Parts = append(a.Parts, part)
		}
		answers = append(answers, a)
	}
	return answers, nil
}

// byFeatures groups terms on the same features, in the order of the first.
func byFeatures(terms []decompose.TermResult) (groups [][]int) {
	for j, t := range terms {
		at := slices.IndexFunc(groups, func(g []int) bool { return slices.Equal(terms[g[0]].Features, t.Features) })
		if at < 0 {
			groups = append(groups, nil)
			at = len(groups) - 1
		}
		groups[at] = append(groups[at], j)
	}
	return groups
}

func write(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

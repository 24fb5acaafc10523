package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// calls are timed one by one; their median counts.
const calls = 20_000

// compareRow times one row from columns to contributions, all in float64, next to
// the peer's run of the network on that row. The peer is called from Python in the
// way that costs least there: input and output are bound once.
func compareRow(c network, path string, in io.Writer, answers *bufio.Reader) error {
	a, err := c.applier(path)
	if err != nil {
		return err
	}
	row := data.NewBatch(1, 0)
	for j := range c.inputs {
		if err := row.SetNumeric(column(j), []float64{float64(float32(math.Sin(float64(j) * 1.3)))}); err != nil {
			return err
		}
	}
	ctx := context.Background()
	var parts *decompose.Parts
	took := make([]float64, calls)
	for i := range took {
		begin := time.Now()
		if parts, err = a.Parts(ctx, row); err != nil {
			return err
		}
		took[i] = float64(time.Since(begin).Nanoseconds()) / 1e3
	}
	ours := median(took)
	fmt.Fprintf(in, "latency %s %d %d\n", path, c.inputs, calls)
	var peer, eta float64
	if _, err := fmt.Fscan(answers, &peer, &eta); err != nil {
		return err
	}
	terms := "its own terms"
	if c.splines {
		terms = fmt.Sprintf("%d ps terms", c.inputs)
	}
	fmt.Printf("one row to contributions, %s and %s\t%.1f us\t%.1f us (network alone)\t%.2f\t%.1e\n", c.name, terms, ours, peer, peer/ours,
		math.Abs(parts.Sum(0, 0)-eta)/math.Max(math.Abs(eta), 1))
	return nil
}

func column(j int) string { return fmt.Sprintf("x%d", j) }

// applier decomposes the network on rows that are drawn.
func (c network) applier(path string) (*decompose.Applier, error) {
	const rows = 3000
	ctx, random := context.Background(), rand.New(rand.NewPCG(9, 10))
	table := data.NewTable(rows)
	var names, terms []string
	for j := range c.inputs {
		x := make([]float64, rows)
		for i := range x {
			x[i] = random.NormFloat64()
		}
		names, terms = append(names, column(j)), append(terms, fmt.Sprintf("s(%s, bs=\"ps\", k=20)", column(j)))
		if err := table.AddNumeric(names[j], x); err != nil {
			return nil, err
		}
	}
	g, err := onnx.LoadFile(path, nil)
	if err != nil {
		return nil, err
	}
	network, err := onnx.NewModel(g, onnx.Binding{{Input: "x", Columns: names}}, nil)
	if err != nil {
		return nil, err
	}
	m := decompose.Model(network)
	if c.splines {
		f, err := basis.Parse("~ "+strings.Join(terms, " + "), nil)
		if err != nil {
			return nil, err
		}
		if err := decompose.Scan(ctx, table, f.Specs, nil); err != nil {
			return nil, err
		}
		blocks, err := decompose.Build(f.Specs)
		if err != nil {
			return nil, err
		}
		if m, err = decompose.With(m, map[string][]decompose.Block{"": blocks}); err != nil {
			return nil, err
		}
	}
	r, err := decompose.Decompose(ctx, m, table, nil)
	if err != nil {
		return nil, err
	}
	return r.Applier(m)
}

package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// calls are timed one by one; their median counts, of the turns the best.
const calls = 5_000

// compareRow times one row from columns to contributions, all in float64, next to the
// network alone run by the peers.
func (s *settings) compareRow(c network, peers []*peer) error {
	path := filepath.Join(s.dir, c.file+".onnx")
	a, err := c.applier(path)
	if err != nil {
		return err
	}
	row, x := data.NewBatch(1, 0), c.values(1)
	for j, v := range x {
		if err := row.SetNumeric(column(j), []float64{v}); err != nil {
			return err
		}
	}
	terms := "its own terms"
	if c.splines {
		terms = fmt.Sprintf("%d ps terms", c.columns)
	}
	for _, p := range peers {
		if !c.has(p, f32) {
			continue
		}
		best, err := p.fastest(s, task{path, "float32", c, 1}, x)
		if err != nil {
			return err
		}
		var parts *decompose.Parts
		ours, theirs := math.Inf(1), math.Inf(1)
		for range s.rounds {
			time.Sleep(pause)
			var took float64
			if took, parts, err = oneByOne(a, row); err != nil {
				return err
			}
			ours = math.Min(ours, took)
			rate, err := p.run(best[0], s.seconds)
			if err != nil {
				return err
			}
			theirs = math.Min(theirs, 1e6/rate)
		}
		miss, err := p.difference([]float64{parts.Sum(0, 0)})
		if err != nil {
			return err
		}
		fmt.Printf("one row to contributions, %s and %s: %s\t%.1f us\t%.1f us (network alone)\t%.2f\t%.1e\n", c.name, terms, p.plain(), ours, theirs, theirs/ours, miss)
	}
	return nil
}

// oneByOne is the median over calls of the microseconds of one, and the last result.
func oneByOne(a *decompose.Applier, row *data.Batch) (median float64, parts *decompose.Parts, err error) {
	ctx, took := context.Background(), make([]float64, calls)
	for i := range took {
		begin := time.Now()
		if parts, err = a.Parts(ctx, row); err != nil {
			return 0, nil, err
		}
		took[i] = float64(time.Since(begin).Nanoseconds()) / 1e3
	}
	slices.Sort(took)
	return took[calls/2], parts, nil
}

func column(j int) string { return fmt.Sprintf("x%d", j) }

// applier decomposes the network on rows that are drawn.
func (c network) applier(path string) (*decompose.Applier, error) {
	const rows = 3000
	ctx, random := context.Background(), rand.New(rand.NewPCG(9, 10))
	table := data.NewTable(rows)
	var names, terms []string
	for j := range c.columns {
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
		blocks, err := decompose.Prepare(ctx, table, f.Specs, nil)
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

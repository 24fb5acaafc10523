// Command shards decomposes one network over rows that are spread over three
// processes: each accumulates the statistics of its own rows and sends them as
// bytes; somebody merges and solves, and sends the result to all for the last pass, of which
// they send sums again. No row travels.
//
//	go run ./examples/shards
//
// Here the processes are goroutines. The result has the bytes of one process that has
// all rows, because shards are cut at multiples of decompose.ChunkRows. In which order what
// they send is merged does not matter.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

func main() {
	if err := run(context.Background(), os.Stdout, 30_000); err != nil {
		log.Fatal(err)
	}
}

const shards = 3

func run(ctx context.Context, w io.Writer, n int) error {
	rows := draw(n)
	shared, err := terms(ctx)
	if err != nil {
		return err
	}
	m, err := model(shared)
	if err != nil {
		return err
	}
	chunk, err := decompose.ChunkRows(m)
	if err != nil {
		return err
	}

	// Each process: the terms, its rows, the number of the chunk they begin with.
	cut := func(i int) int { return min((n/chunk+1)*i/shards*chunk, n) }
	sent, err := each(func(i int) ([]byte, error) {
		return process{shared, rows, cut(i), cut(i + 1), chunk}.accumulate(ctx)
	})
	if err != nil {
		return err
	}

	// Somebody: merged in any order, solved once.
	total := &decompose.Statistics{}
	if err := total.UnmarshalBinary(sent[1]); err != nil {
		return err
	}
	for _, i := range []int{2, 0} {
		next := &decompose.Statistics{}
		if err := next.UnmarshalBinary(sent[i]); err != nil {
			return err
		}
		if err := total.Merge(next); err != nil {
			return err
		}
	}
	r, err := decompose.Solve(ctx, m, total, nil)
	if err != nil {
		return err
	}
	for i, b := range sent {
		fmt.Fprintf(w, "shard %d: rows %d to %d, %d bytes\n", i, cut(i)+1, cut(i+1), len(b))
	}

	// Each process again: the result, its rows; and somebody completes the result.
	var doc, moments bytes.Buffer
	if err := errors.Join(r.EncodeMoments(&moments), r.Encode(&doc)); err != nil {
		return err
	}
	sent, err = each(func(i int) ([]byte, error) {
		return process{shared, rows, cut(i), cut(i + 1), chunk}.explain(ctx, doc.Bytes(), moments.Bytes())
	})
	if err != nil {
		return err
	}
	if err := complete(ctx, m, r, sent); err != nil {
		return err
	}
	for _, t := range r.Predictors[0].Terms {
		fmt.Fprintf(w, "%-6s edf %.1f, sd %.2f\n", t.Name, t.EDF, math.Sqrt(t.After.Variance))
	}
	for i, b := range sent {
		fmt.Fprintf(w, "last pass of shard %d: %d bytes\n", i, len(b))
	}
	same, err := sameAsOne(ctx, m, rows, r)
	fmt.Fprintf(w, "the bytes of one process: %t\n", same)
	return err
}

// each runs a function for every shard at once.
func each(f func(shard int) ([]byte, error)) ([][]byte, error) {
	sent, faults := make([][]byte, shards), make([]error, shards)
	var wait sync.WaitGroup
	for i := range shards {
		wait.Go(func() { sent[i], faults[i] = f(i) })
	}
	wait.Wait()
	for i, err := range faults {
		if err != nil {
			return nil, fmt.Errorf("shard %d: %w", i, err)
		}
	}
	return sent, nil
}

// complete takes what the last pass of all shards adds up to.
func complete(ctx context.Context, m decompose.Model, r *decompose.Result, sent [][]byte) error {
	total, err := decompose.DecodeExplanation(sent[2], nil)
	if err != nil {
		return err
	}
	for _, i := range []int{0, 1} {
		next, err := decompose.DecodeExplanation(sent[i], nil)
		if err != nil {
			return err
		}
		if err := total.Merge(next); err != nil {
			return err
		}
	}
	e, err := decompose.NewExplaining(m, r, nil)
	if err != nil {
		return err
	}
	return e.Take(ctx, total)
}

// sameAsOne compares r with the decomposition of one process that has all rows.
func sameAsOne(ctx context.Context, m decompose.Model, rows table, r *decompose.Result) (bool, error) {
	all, err := rows.slice(0, len(rows[0]))
	if err != nil {
		return false, err
	}
	one, err := decompose.Decompose(ctx, m, all, nil)
	if err != nil {
		return false, err
	}
	var files [2]bytes.Buffer
	for i, r := range []*decompose.Result{one, r} {
		if err := errors.Join(r.EncodeMoments(&files[i]), r.Encode(&files[i])); err != nil {
			return false, err
		}
	}
	return bytes.Equal(files[0].Bytes(), files[1].Bytes()), nil
}

// process is one that has rows [from, to).
type process struct {
	shared          json.RawMessage // the terms
	rows            table
	from, to, chunk int
}

// begin is what it begins each pass with. Its source numbers rows from 0: where they are
// among all is said by the chunk that they begin with.
func (p process) begin() (decompose.Model, data.Source, *decompose.Options, error) {
	m, err := model(p.shared)
	if err != nil {
		return nil, nil, nil, err
	}
	mine, err := p.rows.slice(p.from, p.to)
	return m, mine, &decompose.Options{Resources: decompose.Resources{FirstChunk: p.from / p.chunk}}, err
}

func (p process) accumulate(ctx context.Context) ([]byte, error) {
	m, mine, o, err := p.begin()
	if err != nil {
		return nil, err
	}
	s, err := decompose.Accumulate(ctx, m, mine, o)
	if err != nil {
		return nil, err
	}
	return s.MarshalBinary()
}

func (p process) explain(ctx context.Context, doc, moments []byte) ([]byte, error) {
	m, mine, o, err := p.begin()
	if err != nil {
		return nil, err
	}
	r, err := decompose.Read(bytes.NewReader(doc), bytes.NewReader(moments), basis.Decode)
	if err != nil {
		return nil, err
	}
	e, err := decompose.NewExplaining(m, r, o)
	if err != nil {
		return nil, err
	}
	s, err := e.Accumulate(ctx, mine)
	if err != nil {
		return nil, err
	}
	return s.MarshalBinary()
}

// terms are those of a formula, built once and sent to all: a process that found knots
// in its own rows would have other columns, and its statistics would not merge. Here
// the features' ranges are agreed upon; a scan of all rows would do as well.
func terms(ctx context.Context) (json.RawMessage, error) {
	const points = 50
	agreed := data.NewTable(points)
	for _, name := range columns {
		if err := agreed.AddNumeric(name, floats.Span(make([]float64, points), -1, 1)); err != nil {
			return nil, err
		}
	}
	f, err := basis.Parse(`~ s(x0, bs="ps", k=20) + s(x1, bs="ps", k=20) + x2`, &basis.Options{Schema: agreed.Schema()})
	if err != nil {
		return nil, err
	}
	blocks, err := decompose.Prepare(ctx, agreed, f.Specs, nil)
	if err != nil {
		return nil, err
	}
	return decompose.EncodeBlocks([][]decompose.Block{blocks})
}

// model is the network with the terms that were sent.
func model(shared json.RawMessage) (decompose.Model, error) {
	blocks, err := decompose.DecodeBlocks(shared, basis.Decode)
	if err != nil {
		return nil, err
	}
	return decompose.With(network{}, map[string][]decompose.Block{"": blocks[0]})
}

var columns = []string{"x0", "x1", "x2"}

// network stands for any trained one: a function of a row.
type network struct{}

func (network) Predictors() []string         { return []string{"eta"} }
func (network) Columns() []string            { return columns }
func (network) Intercept(int) float64        { return 0 }
func (network) Blocks(int) []decompose.Block { return nil }
func (network) Taps() map[string]int         { return nil }

func (network) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	x := mat.NewDense(b.Rows(), len(columns), nil)
	for j, name := range columns {
		v, err := b.Numeric(name)
		if err != nil {
			return err
		}
		x.SetCol(j, v)
	}
	for i := range b.Rows() {
		x := x.RawRowView(i)
		eta := math.Sin(3*x[0]) + x[1]*x[1] + x[2] + 0.3*x[0]*x[1]
		dst.Zeta.Set(i, 0, eta)
		dst.Eta.Set(i, 0, eta)
	}
	return nil
}

// table is rows in memory, by column.
type table [][]float64

func draw(n int) table {
	random := rand.New(rand.NewPCG(5, 6))
	t := make(table, len(columns))
	for j := range t {
		t[j] = make([]float64, n)
		for i := range t[j] {
			t[j][i] = 2*random.Float64() - 1
		}
	}
	return t
}

func (t table) slice(from, to int) (*data.Table, error) {
	rows := data.NewTable(to - from)
	for j, name := range columns {
		if err := rows.AddNumeric(name, t[j][from:to]); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

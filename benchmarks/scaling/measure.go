package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"golang.org/x/sys/unix"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// Piece is what one kind of design took with p columns, on one core. Times are processor
// seconds, the least of several turns.
type Piece struct {
	Kind    kind    `json:"kind"`
	Columns int     `json:"columns"` // p, besides the intercept
	Row     float64 `json:"row"`     // Accumulate, a row more
	Chunk   float64 `json:"chunk"`   // Accumulate, what each chunk costs besides its rows
	Bytes   int     `json:"bytes"`   // of the statistics of one chunk, encoded
	Encode  float64 `json:"encode"`
	Decode  float64 `json:"decode"`
	Merge   float64 `json:"merge"`             // two decoded statistics added
	Solve   float64 `json:"solve,omitempty"`   // 0: not measured
	Explain float64 `json:"explain,omitempty"` // the last pass with robust bands, a row more
}

// Measured is what the simulation knows of a machine.
type Measured struct {
	Processor string  `json:"processor"`
	Note      string  `json:"note"`
	Cell      float64 `json:"cell"`   // a number read from Parquet
	Stored    float64 `json:"stored"` // bytes of a number in that file
	Pieces    []Piece `json:"pieces"`
}

// sizes are the p of each kind, and whether it is solved: larger ones take memory that a
// laptop lacks, and time that their laws tell as well.
var sizes = []struct {
	kind    kind
	columns int
	solve   bool
}{
	{dense, 200, true}, {dense, 1000, true}, {dense, 2000, true}, {dense, 4000, false},
	{splines, 200, true}, {splines, 1000, true}, {splines, 2000, true}, {splines, 4000, false},
	{factors, 200, true}, {factors, 1000, true}, {factors, 2000, true}, {factors, 4000, false},
}

const turns = 2

// measure adds measurements that m lacks, keeps the smaller of repeated ones, and saves after each.
func measure(ctx context.Context, m *Measured, only kind, most int, save func() error) error {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(50)
	m.Processor = processor()
	m.Note = "processor time on one core, while others used the machine; the least of several turns"
	cell, stored, err := reading(ctx)
	if err != nil {
		return err
	}
	m.Cell, m.Stored = lesser(m.Cell, cell), stored
	for _, s := range sizes {
		if s.columns > most || only != "" && s.kind != only {
			continue
		}
		piece, err := measurePiece(ctx, s.kind, s.columns, s.solve)
		if err != nil {
			return fmt.Errorf("%s, %d columns: %w", s.kind, s.columns, err)
		}
		fmt.Fprintf(os.Stderr, "%+v\n", *piece)
		m.add(*piece)
		if err := save(); err != nil {
			return err
		}
		debug.FreeOSMemory()
	}
	return nil
}

// add takes in a piece.
func (m *Measured) add(p Piece) {
	for i := range m.Pieces {
		q := &m.Pieces[i]
		if q.Kind != p.Kind || q.Columns != p.Columns {
			continue
		}
		q.Bytes = p.Bytes
		for _, v := range [][2]*float64{{&q.Row, &p.Row}, {&q.Chunk, &p.Chunk}, {&q.Encode, &p.Encode}, {&q.Decode, &p.Decode}, {&q.Merge, &p.Merge}, {&q.Solve, &p.Solve}, {&q.Explain, &p.Explain}} {
			*v[0] = lesser(*v[0], *v[1])
		}
		return
	}
	m.Pieces = append(m.Pieces, p)
}

// lesser is the less of two times, of which those that are not positive are not known.
func lesser(a, b float64) float64 {
	if a <= 0 || b > 0 && b < a {
		return b
	}
	return a
}

// designs draws two tables, whole chunks of rows where a chunk is small, else parts of one,
// and the model that both have.
func designs(ctx context.Context, k kind, p int) (few, many *data.Table, m decompose.Model, err error) {
	rows := 1 << 20
	switch k {
	case dense:
		rows = min(1<<16, 1<<26/p&^4095)
	case splines:
		rows = 1 << 17
	}
	if few, err = k.rows(rows/4, p); err != nil {
		return nil, nil, nil, err
	}
	if many, err = k.rows(rows, p); err != nil {
		return nil, nil, nil, err
	}
	m, err = k.model(ctx, many, p)
	return few, many, m, err
}

func measurePiece(ctx context.Context, k kind, p int, solve bool) (*Piece, error) {
	few, many, m, err := designs(ctx, k, p)
	if err != nil {
		return nil, err
	}
	chunk, err := decompose.ChunkRows(m)
	if err != nil {
		return nil, err
	}
	piece := &Piece{Kind: k, Columns: p}
	o := &decompose.Options{Resources: decompose.Resources{Workers: 1}}
	var stats *decompose.Statistics
	short, err := least(func() error { _, err := decompose.Accumulate(ctx, m, few, o); return err })
	if err != nil {
		return nil, err
	}
	long, err := least(func() (err error) { stats, err = decompose.Accumulate(ctx, m, many, o); return err })
	if err != nil {
		return nil, err
	}
	piece.Row = (long - short) / float64(many.Rows()-few.Rows())
	if chunk > many.Rows() { // otherwise it is in the cost of a row
		piece.Chunk = max(0, short-piece.Row*float64(few.Rows()))
	}
	if err := measureMerge(ctx, m, few, (few.Rows()+chunk-1)/chunk, piece); err != nil {
		return nil, err
	}
	if !solve {
		return piece, nil
	}
	return piece, measureSolve(ctx, m, stats, few, many, piece)
}

// measureMerge takes the statistics of rows as if they were those of two neighbouring shards.
func measureMerge(ctx context.Context, m decompose.Model, rows *data.Table, chunks int, piece *Piece) error {
	var raw [2][]byte
	for i := range raw {
		s, err := decompose.Accumulate(ctx, m, rows, &decompose.Options{Resources: decompose.Resources{Workers: 1, FirstChunk: chunks * i}})
		if err != nil {
			return err
		}
		if piece.Encode, err = least(func() (err error) { raw[i], err = s.MarshalBinary(); return err }); err != nil {
			return err
		}
	}
	piece.Bytes = len(raw[0])
	for turn := range turns {
		var s [2]decompose.Statistics
		started := processorTime()
		for i := range s {
			if err := s[i].UnmarshalBinary(raw[i]); err != nil {
				return err
			}
		}
		decoded := processorTime()
		if err := s[0].Merge(&s[1]); err != nil {
			return err
		}
		decode, merge := (decoded-started)/2, processorTime()-decoded
		if turn == 0 {
			piece.Decode, piece.Merge = decode, merge
		}
		piece.Decode, piece.Merge = min(piece.Decode, decode), min(piece.Merge, merge)
	}
	return nil
}

func measureSolve(ctx context.Context, m decompose.Model, stats *decompose.Statistics, few, many *data.Table, piece *Piece) error {
	o := &decompose.Options{Resources: decompose.Resources{Workers: 1}}
	started := processorTime()
	r, err := decompose.Solve(ctx, m, stats, o)
	if err != nil {
		return err
	}
	piece.Solve = processorTime() - started
	var seconds [2]float64
	for i, rows := range []*data.Table{few, many} {
		seconds[i], err = least(func() error {
			return decompose.Explain(ctx, m, rows, r, o)
		})
		if err != nil {
			return err
		}
	}
	piece.Explain = (seconds[1] - seconds[0]) / float64(many.Rows()-few.Rows())
	return nil
}

// least is the processor time of the shortest of some turns, which others on the machine
// change less than the time of day.
func least(f func() error) (float64, error) {
	var best float64
	for turn := range turns {
		started := processorTime()
		if err := f(); err != nil {
			return 0, err
		}
		if s := processorTime() - started; turn == 0 || s < best {
			best = s
		}
	}
	return best, nil
}

// processorTime is what this process has used, in seconds.
func processorTime() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

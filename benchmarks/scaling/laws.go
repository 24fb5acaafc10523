package main

import (
	"fmt"
	"math"
)

// Costs are what a design of p columns takes on one core: measured, or told by the laws below.
type Costs struct {
	Row     float64 // pass fit, seconds a row, reading and network included
	Explain float64 // last pass, likewise
	Scan    float64 // pass 0, likewise
	Chunk   int     // rows
	Bytes   float64 // statistics of one chunk or of any aligned 2^k of them
	Take    float64 // seconds to decode such statistics and add them
	Solve   float64
	Memory  float64 // bytes that a worker with one goroutine holds
}

const (
	forwardRow = 0.5e-6 // seconds of a network of two layers of 200, float32: docs/benchmarks.md
	seeCell    = 10e-9  // seconds that a scan spends on a number that it has read
)

// costs of p columns: between and beyond those measured by powers of p that theory has.
//
//	a row of pass fit    dense p^2; splines and factors by the square of their columns that are
//	                     not zero, and at least as p
//	statistics           p^2, merging with them
//	solve                p^3
func (m *Measured) costs(k kind, p int) (*Costs, error) {
	at := m.nearest(k, p)
	if at == nil {
		return nil, fmt.Errorf("nothing was measured of %s", k)
	}
	ratio := float64(p) / float64(at.Columns)
	merged := m.nearestMerged(k, p)
	if merged == nil {
		return nil, fmt.Errorf("no merge of %s was measured", k)
	}
	rowLaw := math.Pow(k.nonzero(p)/k.nonzero(at.Columns), 2)
	c := &Costs{
		Row:   at.Row * rowLaw,
		Bytes: float64(merged.Bytes) * square(p, merged),
		Take:  (merged.Decode + merged.Merge) * square(p, merged),
		Chunk: chunkRows(k.stored(p)),
	}
	// Of many columns a share of each chunk's cost: its p x p matrix begun, centred, added.
	c.Row += at.Chunk * ratio * ratio / float64(c.Chunk)
	solved := m.nearestSolved(k, p)
	if solved == nil {
		return nil, fmt.Errorf("no solution of %s was measured", k)
	}
	c.Solve = solved.Solve * math.Pow(float64(p)/float64(solved.Columns), 3)
	explained := m.nearestExplained(k, p) // the last pass forms the products once more, after more else
	if explained == nil {
		return nil, fmt.Errorf("no last pass of %s was measured", k)
	}
	c.Explain = c.Row * max(1, explained.Explain/explained.Row)
	read := m.Cell * float64(k.columns(p)+1)
	c.Row += read + forwardRow
	c.Explain += read + forwardRow
	c.Scan = read + seeCell*float64(k.columns(p))
	c.Memory = matrices * 8 * math.Pow(float64(k.stored(p)), 2)
	return c, nil
}

// thin makes the costs those of statistics of which a share of the cells is stored, each with its place (12
// bytes for 8), and of chunks as long as the rule has them for as many numbers.
func (c *Costs) thin(share float64) {
	if share >= 1 {
		return
	}
	cells := c.Bytes / 8 * share
	c.Bytes *= 1.5 * share
	c.Take *= 1.5 * share
	c.Memory *= 1.5 * share
	c.Chunk = chunkRows(int(math.Sqrt(2 * cells)))
}

func square(p int, at *Piece) float64 { return math.Pow(float64(p)/float64(at.Columns), 2) }

// matrices of p x p that a worker of one goroutine holds: decompose.EstimateMemory.
const matrices = 8

// stored is how many columns statistics hold: those of the terms, and one for each feature.
func (k kind) stored(p int) int { return p + k.columns(p) + 1 }

// chunkRows is the rule of decompose.ChunkRows.
func chunkRows(p int) int {
	b := 4096
	for b < p*p/64 {
		b *= 2
	}
	return b
}

// nearest is the measured piece of that kind whose number of columns is nearest by ratio.
func (m *Measured) nearest(k kind, p int) *Piece {
	return m.best(k, p, func(*Piece) bool { return true })
}

func (m *Measured) nearestSolved(k kind, p int) *Piece {
	return m.best(k, p, func(c *Piece) bool { return c.Solve > 0 })
}

func (m *Measured) nearestExplained(k kind, p int) *Piece {
	return m.best(k, p, func(c *Piece) bool { return c.Explain > 0 && c.Row > 0 })
}

func (m *Measured) nearestMerged(k kind, p int) *Piece {
	return m.best(k, p, func(c *Piece) bool { return c.Merge > 0 })
}

func (m *Measured) best(k kind, p int, may func(*Piece) bool) *Piece {
	var best *Piece
	distance := func(c *Piece) float64 { return math.Abs(math.Log(float64(c.Columns) / float64(p))) }
	for i := range m.Pieces {
		if c := &m.Pieces[i]; c.Kind == k && may(c) && (best == nil || distance(c) < distance(best)) {
			best = c
		}
	}
	return best
}

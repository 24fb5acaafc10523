package decompose

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"
)

// defaultOutputMemory is how many bytes of outputs are kept in memory unless Options say
// otherwise: those of 16 million rows of one predictor without taps.
const defaultOutputMemory = 256 << 20

// outputCache holds the network's outputs between the passes: of the first chunks
// in memory, as many as fit, of the others in a file if there is one. For chunks
// that are in neither the network runs again, with the same outcome. A nil *outputCache
// holds nothing.
type outputCache struct {
	limit  int64
	chunks []*Outputs  // of chunks 0, 1, ...
	bytes  int64       // that they take
	full   atomic.Bool // the next chunk does not fit: the file takes it, or none
	file   *os.File    // nil: none
	gone   bool        // the file has no name any more
	stride int64       // bytes of a whole chunk
	filed  int         // chunks in the file: those after the ones in memory
	rows   int64       // of the pass that kept them; 0: not over yet
	k      int
	taps   []string
	width  map[string]int
}

// newOutputCache makes the file that o asks for.
func newOutputCache(m Model, p *plan, o *Options) (*outputCache, error) {
	c := &outputCache{limit: o.OutputMemory, k: len(m.Predictors()), width: m.Taps()}
	if c.limit == 0 {
		c.limit = defaultOutputMemory
	}
	c.taps = sortedKeys(c.width)
	c.stride = int64(p.chunkRows()) * rowBytes(m)
	if o.OutputFile == "" {
		return c, nil
	}
	f, err := os.OpenFile(o.OutputFile, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("decompose: the cache %q exists: it would be overwritten; name a new file", o.OutputFile)
	}
	if err != nil {
		return nil, fmt.Errorf("decompose: the cache cannot be made: %w", err)
	}
	c.file = f
	// An open file without a name vanishes with the process, however it ends. Where
	// that cannot be, close removes it.
	c.gone = os.Remove(o.OutputFile) == nil
	return c, nil
}

// KeptOutputs holds a network's outputs from one Decompose to the next of the same network over the same rows, with
// other terms of formulas: it then runs no more for the rows that are held. The zero value holds nothing. It is
// for one call at a time, and is closed at the end.
type KeptOutputs struct {
	cache *outputCache
	rows  string
}

// Over names the rows of the next Decompose, "" at first: outputs over rows of another name go.
func (k *KeptOutputs) Over(rows string) {
	if rows != k.rows {
		k.Close()
		k.rows = rows
	}
}

// Close lets the outputs go.
func (k *KeptOutputs) Close() {
	k.cache.close()
	k.cache = nil
}

// outputs are those that o.Kept holds, if they are of the model's outputs in the plan's chunks, or none yet.
func (o *Options) outputs(m Model, p *plan) (*outputCache, error) {
	if o.Kept == nil {
		return newOutputCache(m, p, o)
	}
	if c := o.Kept.cache; c != nil && c.rows > 0 && c.k == len(m.Predictors()) && maps.Equal(c.width, m.Taps()) && c.stride == int64(p.chunkRows())*rowBytes(m) {
		return c, nil
	}
	o.Kept.Close()
	var err error
	o.Kept.cache, err = newOutputCache(m, p, o)
	return o.Kept.cache, err
}

// done closes the cache unless it is kept.
func (o *Options) done(c *outputCache) {
	if o.Kept == nil {
		c.close()
	}
}

// rowBytes is what the outputs of a row take.
func rowBytes(m Model) int64 {
	n := 2 * len(m.Predictors())
	for _, w := range m.Taps() {
		n += w
	}
	return 8 * int64(n)
}

func (c *outputCache) close() {
	if c == nil || c.file == nil {
		return
	}
	_ = c.file.Close()
	if !c.gone {
		_ = os.Remove(c.file.Name())
	}
}

// wants tells workers whether to hand in the outputs of further chunks: only the
// first pass keeps any, and only later ones load.
func (c *outputCache) wants() bool {
	return c != nil && c.rows == 0 && (c.file != nil || !c.full.Load())
}

// add keeps the outputs of the next chunk; they belong to c from then on.
// A nil o, or a chunk that does not fit, ends what can be kept in memory.
func (c *outputCache) add(o *Outputs) error {
	if c == nil || o == nil {
		return nil
	}
	size := o.numbers() * 8
	if !c.full.Load() {
		if c.bytes+size <= c.limit {
			c.chunks, c.bytes = append(c.chunks, o), c.bytes+size
			return nil
		}
		c.full.Store(true)
	}
	if c.file == nil {
		return nil
	}
	raw := make([]byte, 0, size)
	o.each(c.taps, func(row []float64) {
		for _, v := range row {
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
		}
	})
	if _, err := c.file.WriteAt(raw, int64(c.filed)*c.stride); err != nil {
		return fmt.Errorf("decompose: the cache %q: %w", c.file.Name(), err)
	}
	c.filed++
	return nil
}

// load returns the outputs of chunk index, of so many rows; nil if the
// network has to run.
func (c *outputCache) load(index, rows int) (*Outputs, error) {
	if c == nil || c.rows == 0 || index >= len(c.chunks)+c.filed {
		return nil, nil
	}
	if index < len(c.chunks) {
		if r, _ := c.chunks[index].Eta.Dims(); r != rows {
			return nil, errOtherRows
		}
		return c.chunks[index], nil
	}
	o := newOutputs(rows, c.k, c.taps, c.width)
	raw := make([]byte, o.numbers()*8)
	if _, err := c.file.ReadAt(raw, int64(index-len(c.chunks))*c.stride); err != nil {
		return nil, fmt.Errorf("decompose: the cache %q: %w", c.file.Name(), err)
	}
	o.each(c.taps, func(row []float64) {
		for i := range row {
			row[i], raw = math.Float64frombits(binary.LittleEndian.Uint64(raw)), raw[8:]
		}
	})
	return o, nil
}

var errOtherRows = errors.New("decompose: the data have other rows in the second pass than in the first: a file changed meanwhile")

// newOutputs allocates outputs for n rows.
func newOutputs(n, k int, taps []string, width map[string]int) *Outputs {
	o := &Outputs{Zeta: mat.NewDense(n, k, nil), Eta: mat.NewDense(n, k, nil), Taps: make(map[string]*mat.Dense, len(taps))}
	for _, t := range taps {
		o.Taps[t] = mat.NewDense(n, width[t], nil)
	}
	return o
}

func (o *Outputs) numbers() int64 {
	n := 0
	count := func(m *mat.Dense) {
		r, c := m.Dims()
		n += r * c
	}
	count(o.Zeta)
	count(o.Eta)
	for _, m := range o.Taps {
		count(m)
	}
	return int64(n)
}

// each shows all rows of zeta, then of eta, then of each tap.
func (o *Outputs) each(taps []string, f func(row []float64)) {
	all := []*mat.Dense{o.Zeta, o.Eta}
	for _, t := range taps {
		all = append(all, o.Taps[t])
	}
	for _, m := range all {
		r, _ := m.Dims()
		for i := range r {
			f(m.RawRowView(i))
		}
	}
}

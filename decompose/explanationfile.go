package decompose

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/internal/base/dyadic"
	"github.com/pho-go/pho/internal/base/wire"
)

// explanationMagic begins encoded sums of the last pass; the number is the format's version.
const explanationMagic = "pho.explanation/1\n"

// explanationHeader describes what follows it, numbers little endian: the sums over rows,
// then, behind their length, the products of the bands by predictor and node, the clusters by node, and
// the Sums of each visitor by node.
type explanationHeader struct {
	Of     string     `json:"of"`
	Nodes  []nodeRows `json:"nodes"`            // of the tree of chunks
	Behind [][2]int   `json:"behind,omitempty"` // chunks without rows behind them
	Below  uint64     `json:"below,omitempty"`  // of rowSums, whose shape the following are
	Bins   []int      `json:"bins,omitempty"`   // by feature
	Areas  []areaFile `json:"areas,omitempty"`
	Sample int        `json:"sample,omitempty"` // rows
	Pinned [][]int64  `json:"pinned,omitempty"`
	Bands  []bool     `json:"bands,omitempty"` // by predictor: whether it has sums of products

	Columns [][]int    `json:"columns,omitempty"` // of those sums; without clusters
	Copies  [][][2]int `json:"copies,omitempty"`  // that come again in them (moments.Shape); without: none

	Predictors int          `json:"predictors,omitempty"`
	Clusters   *clusterFile `json:"clusters,omitempty"`
	Visitors   []string     `json:"visitors"` // kinds; "": no sums
}

// nodeRows is a node of the tree and its rows; 0: none.
type nodeRows struct {
	Start int   `json:"start"`
	Level int   `json:"level,omitempty"`
	Rows  int64 `json:"rows,omitempty"`
}

type areaFile struct {
	Levels int `json:"levels"`
	Sides  int `json:"sides"`
	Cells  int `json:"cells,omitempty"` // bytes of each level
}

type clusterFile struct {
	Column string `json:"column"`
	Widths []int  `json:"widths"`
}

// MarshalBinary encodes s; equal sums have equal bytes.
func (s *Explanation) MarshalBinary() ([]byte, error) {
	h := explanationHeader{Of: s.of, Behind: s.chunks.Behind(), Nodes: []nodeRows{}, Visitors: []string{}}
	s.chunks.Each(func(n dyadic.Node[int64], _ bool) { h.Nodes = append(h.Nodes, nodeRows{n.Start, n.Level, n.Value}) })
	for i := range s.visits {
		h.Visitors = append(h.Visitors, kindOf(&s.visits[i]))
	}
	s.rows.describe(&h)
	s.bands.describe(&h)
	header, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("decompose: sums of the last pass: %w", err)
	}
	w := &sumsWriter{out: wire.AppendText([]byte(explanationMagic), header)}
	s.rows.append(w)
	s.bands.append(w)
	for i := range s.visits {
		s.visits[i].Each(func(n dyadic.Node[Sums], ok bool) {
			if ok {
				w.marshaled(n.Value)
			}
		})
	}
	if w.err != nil {
		return nil, fmt.Errorf("decompose: sums of the last pass: %w", w.err)
	}
	return w.out, nil
}

// DecodeExplanation reads what MarshalBinary wrote, the visitors' Sums by decode (nil: there are
// none). It allocates no more than a small multiple of len(raw), which is not kept.
func DecodeExplanation(raw []byte, decode DecodeSums) (*Explanation, error) {
	s, err := decodeExplanation(raw, decode)
	if err != nil {
		return nil, fmt.Errorf("decompose: sums of the last pass: %w", err)
	}
	return s, nil
}

func decodeExplanation(raw []byte, decode DecodeSums) (*Explanation, error) {
	rest, ok := bytes.CutPrefix(raw, []byte(explanationMagic))
	if !ok {
		return nil, fmt.Errorf("the data begin with %q, not %q: these are none, or of another version", raw[:min(len(raw), len(explanationMagic))], explanationMagic)
	}
	r := sumsReader{wire.NewReader(rest)}
	header := r.Bytes()
	if r.Err() != nil {
		return nil, errCut()
	}
	var h explanationHeader
	if err := json.Unmarshal(header, &h); err != nil {
		return nil, fmt.Errorf("their header: %w", err)
	}
	s := &Explanation{of: h.Of}
	if err := s.readChunks(&h); err != nil {
		return nil, err
	}
	if h.Predictors <= 0 {
		return nil, fmt.Errorf("%d predictors: the file is damaged", h.Predictors)
	}
	var err error
	if s.rows, err = r.rowSums(&h); err != nil {
		return nil, err
	}
	if s.bands, err = r.bandSums(&h); err != nil {
		return nil, err
	}
	for _, kind := range h.Visitors {
		if kind != "" && decode == nil {
			return nil, fmt.Errorf("sums of kind %q, which nobody reads here", kind)
		}
		v, err := readNodes(&h, kind != "", addSums, func() (Sums, error) { return decode(kind, r.Bytes()) })
		if err != nil {
			return nil, err
		}
		if got := kindOf(&v); got != kind {
			return nil, fmt.Errorf("sums of kind %q were read as %q", kind, got)
		}
		s.visits = append(s.visits, v)
	}
	if r.Done() != nil {
		return nil, errCut()
	}
	return s, nil
}

func errCut() error { return errors.New("the data end too early or too late: the file is damaged") }

// readChunks reads the tree of chunks.
func (s *Explanation) readChunks(h *explanationHeader) error {
	var err error
	at := 0
	s.chunks, err = readNodes(h, true, addRows, func() (int64, error) {
		for h.Nodes[at].Rows == 0 {
			at++
		}
		at++
		return h.Nodes[at-1].Rows, nil
	})
	if err != nil {
		return err
	}
	for i, n := range h.Nodes {
		if n.Rows < 0 || n.Rows == 0 && i == len(h.Nodes)-1 {
			return fmt.Errorf("chunk %d has %d rows: the file is damaged", n.Start, n.Rows)
		}
	}
	return nil
}

// readNodes makes the header's tree, with a value by read for each node that has rows, if
// there are any values.
func readNodes[T any](h *explanationHeader, values bool, sum dyadic.Sum[T], read func() (T, error)) (dyadic.Sparse[T], error) {
	var s dyadic.Sparse[T]
	nodes := 0
	for _, n := range h.Nodes {
		node := dyadic.Node[T]{Start: n.Start, Level: n.Level}
		err := node.Check()
		switch {
		case err != nil:
		case n.Rows == 0 || !values:
			err = s.AddNone(n.Start, n.Level, sum)
		default:
			if node.Value, err = read(); err == nil {
				err = s.Add(node, sum)
			}
		}
		if err != nil {
			return s, err
		}
	}
	s.Each(func(dyadic.Node[T], bool) { nodes++ })
	if nodes != len(h.Nodes) {
		return s, errors.New("the tree of chunks is not the least one: the file is damaged")
	}
	for _, run := range h.Behind {
		if last := s.Runs(); run[0] < 0 || run[0] >= run[1] || len(last) > 0 && run[0] < last[len(last)-1][1] {
			return s, fmt.Errorf("chunks [%d, %d) are no run: the file is damaged", run[0], run[1])
		}
		if err := s.Skip(run[0], run[1], sum); err != nil {
			return s, err
		}
	}
	return s, nil
}

// sumsWriter appends numbers.
type sumsWriter struct {
	out []byte
	err error
}

func (w *sumsWriter) integer(v int64) { w.out = wire.AppendInt(w.out, v) }

func (w *sumsWriter) numbers(v []float64) {
	for _, x := range v {
		if x != x {
			x = math.NaN() // of one pattern
		}
		w.out = wire.AppendFloat(w.out, x)
	}
}

func (w *sumsWriter) integers(v []int64) {
	for _, x := range v {
		w.integer(x)
	}
}

func (w *sumsWriter) marshaled(m interface{ MarshalBinary() ([]byte, error) }) {
	raw, err := m.MarshalBinary()
	w.err = errors.Join(w.err, err)
	w.out = wire.AppendText(w.out, raw)
}

// sumsReader reads what sumsWriter appended, lists of the lengths that the header says.
type sumsReader struct{ *wire.Reader }

// room tells whether n items of size bytes are left.
func (r sumsReader) room(n, size int) bool {
	if n < 0 || n > r.Left()/size {
		r.Fail("the data end too early")
	}
	return r.Err() == nil
}

func (r sumsReader) numbers(n int) []float64 {
	if !r.room(n, 8) {
		return nil
	}
	v := make([]float64, n)
	r.Numbers(v)
	return v
}

func (r sumsReader) integers(n int) []int64 {
	if !r.room(n, 8) {
		return nil
	}
	v := make([]int64, n)
	for i := range v {
		v[i] = r.Int()
	}
	return v
}

func (s *rowSums) describe(h *explanationHeader) {
	s.sample.trim()
	h.Predictors, h.Below, h.Sample = len(s.largest), s.below, len(s.sample.hash)
	for _, c := range s.counts {
		h.Bins = append(h.Bins, len(c))
	}
	for _, a := range s.support {
		f := areaFile{Levels: len(a.rows)}
		if len(a.min) > 0 {
			f.Sides = len(a.min[0])
		}
		if len(a.cells) > 0 {
			f.Cells = len(a.cells[0])
		}
		h.Areas = append(h.Areas, f)
	}
}

// append writes what describe has described.
func (s *rowSums) append(w *sumsWriter) {
	w.numbers(s.largest)
	w.numbers(s.miss)
	w.integers(s.missAt)
	for _, c := range s.counts {
		w.integers(c)
	}
	for _, a := range s.support {
		w.integers(a.rows)
		for l := range a.rows {
			w.numbers(a.min[l])
			w.numbers(a.max[l])
			if a.cells != nil {
				w.out = append(w.out, a.cells[l]...)
			}
		}
	}
	for i, hash := range s.sample.hash {
		w.out = wire.AppendInt(w.out, hash)
		w.numbers(s.sample.value[i])
	}
}

// rowSums reads sums of the shape in h.
func (r sumsReader) rowSums(h *explanationHeader) (*rowSums, error) {
	k := h.Predictors
	s := &rowSums{largest: r.numbers(k), miss: r.numbers(k), missAt: r.integers(k), below: h.Below}
	for _, n := range h.Bins {
		s.counts = append(s.counts, r.integers(n))
	}
	for _, a := range h.Areas {
		if a.Sides < 1 || a.Sides > 2 || a.Levels < 1 || a.Cells < 0 {
			return nil, errors.New("an area of no levels or sides: the file is damaged")
		}
		u := supportSums{rows: r.integers(a.Levels)}
		for range u.rows {
			u.min, u.max = append(u.min, r.numbers(a.Sides)), append(u.max, r.numbers(a.Sides))
			if a.Cells > 0 {
				u.cells = append(u.cells, slices.Clone(r.Raw(a.Cells)))
			}
		}
		s.support = append(s.support, u)
	}
	if !r.room(h.Sample, 8*(1+len(h.Bins))) {
		return nil, errCut()
	}
	for range h.Sample {
		s.sample.hash = append(s.sample.hash, uint64(r.Int()))
		s.sample.value = append(s.sample.value, r.numbers(len(h.Bins)))
	}
	if r.Err() != nil {
		return nil, errCut()
	}
	return s, nil
}

package moments

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/dyadic"
)

// The format, little endian throughout:
//
//	"PHOM", version uint16, kind uint16
//	layout: counts and dimensions as uint32, names as length and bytes
//	versions 3 to 5: after a basis' dimension its ID, like a name
//	versions 2 and 4: the route as uint32, 1 for the triangular factor
//	version 5: for each basis a width as uint32
//	kind 1: one body
//	kind 2: first and next as int64, then one body per dyadic interval, or an
//	empty one if there is none
//	kind 3: the number of runs as int64, and first and next of each; the same of chunks
//	without rows behind them; then one body per dyadic interval of the former
//	CRC-32C of all bytes before it
//
// A body holds rows and positive (int64), then float64s: sum w, sum log w, Sum,
// MaxRowNorm, Mean and its rounding errors, MeanR and its rounding errors, XX's
// upper triangle by rows, XR by rows, RR's upper triangle by rows; or R's upper
// triangle by rows, with a factor. So a file is at least half as large as what it
// decodes to. A layout is written in the least version that holds it. With widths a row of XX leaves out
// products with columns of its own basis that far or farther behind: their product is
// -sum w Mean_i Mean_j, as no row has both.
const (
	magic       = "PHOM"
	version     = 1 // names and dimensions, products
	factored    = 1 // more for a version with a factor
	identified  = 2 // more for a version with IDs
	levelled    = 5 // of products with widths, and IDs
	kindMoments = 1
	kindSum     = 2
	kindRuns    = 3 // a sum with gaps, or of chunks without rows at its end
	headerSize  = 8
	crcSize     = 4
)

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// MarshalBinary encodes m; equal moments have equal bytes. Moments that do not
// pass Check are not written.
func (m *Moments) MarshalBinary() ([]byte, error) {
	if err := m.Layout.Check(); err != nil {
		return nil, err
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	width := widthsOf(m)
	out := appendHeader(nil, m.Layout, kindMoments, width)
	out = appendLayout(out, m.Layout, width)
	out = m.appendBody(out, width)
	return appendCRC(out), nil
}

// UnmarshalBinary replaces m by what MarshalBinary encoded. It allocates no more
// than a small multiple of len(data); data is not kept. After an error m is
// unchanged.
func (m *Moments) UnmarshalBinary(data []byte) error {
	r, err := open(data, kindMoments)
	if err != nil {
		return err
	}
	l, err := r.layout()
	if err != nil {
		return err
	}
	if err := r.bodies(l, 1); err != nil {
		return err
	}
	n := blank(l, l.meeting())
	if err := n.readBody(r); err != nil {
		return err
	}
	if !n.manyLevels() {
		n.fill()
	}
	*m = *n
	return nil
}

// MarshalBinary encodes s; sums of equal chunks have equal bytes.
func (s *Sum) MarshalBinary() ([]byte, error) {
	if err := s.layout.Check(); err != nil {
		return nil, err
	}
	put := func(out []byte, v int) []byte { return binary.LittleEndian.AppendUint64(out, uint64(v)) }
	var nodes []*Moments // nil: without rows
	var runs [][2]int
	s.chunks.Each(func(n dyadic.Node[*Moments], ok bool) {
		if last := len(runs) - 1; last >= 0 && runs[last][1] == n.Start {
			runs[last][1] += 1 << n.Level
		} else {
			runs = append(runs, [2]int{n.Start, n.Start + 1<<n.Level})
		}
		if !ok {
			n.Value = nil
		}
		nodes = append(nodes, n.Value)
	})
	behind := s.chunks.Behind()
	kind := uint16(kindSum)
	if len(runs) > 1 || len(behind) > 0 {
		kind = kindRuns
	}
	width := widthsOf(nodes...)
	out := appendLayout(appendHeader(nil, s.layout, kind, width), s.layout, width)
	switch {
	case kind == kindRuns:
		for _, list := range [][][2]int{runs, behind} {
			out = put(out, len(list))
			for _, run := range list {
				out = put(put(out, run[0]), run[1])
			}
		}
	case len(runs) == 0:
		out = put(put(out, 0), 0)
		nodes = []*Moments{nil}
	default:
		out = put(put(out, runs[0][0]), runs[0][1])
	}
	body := int(s.layout.bodyBytes(width))
	out = slices.Grow(out, len(nodes)*body+crcSize)
	for _, m := range nodes {
		if m == nil {
			out = append(out, make([]byte, body)...)
			continue
		}
		out = m.appendBody(out, width)
	}
	return appendCRC(out), nil
}

// widthsOf are the widths by basis in which all of these (nil: without rows) hold their products, where some basis has many
// levels; nil: all products are written.
func widthsOf(nodes ...*Moments) (width []int) {
	many := false
	for _, m := range nodes {
		if m == nil || m.R != nil {
			continue
		}
		many = many || m.manyLevels()
		own := m.widths()
		if width == nil {
			width = own
		}
		for a, w := range own {
			width[a] = max(width[a], w)
		}
	}
	if !many {
		return nil
	}
	return width
}

// UnmarshalBinary replaces s by what MarshalBinary encoded. It allocates no more
// than a small multiple of len(data); data is not kept. After an error s is
// unchanged.
func (s *Sum) UnmarshalBinary(data []byte) error {
	r, err := open(data, kindSum, kindRuns)
	if err != nil {
		return err
	}
	l, err := r.layout()
	if err != nil {
		return err
	}
	var runs, behind [][2]int
	if r.kind == kindSum {
		if len(r.data) < 16 {
			return errShort
		}
		run, err := r.run()
		if err != nil {
			return err
		}
		if run[0] == run[1] && run[0] > 0 {
			return fmt.Errorf("moments: a run of no chunks begins at chunk %d: the file is damaged", run[0])
		}
		runs = [][2]int{run}
	} else if runs, behind, err = r.allRuns(); err != nil {
		return err
	}
	t := &Sum{layout: l}
	if err := t.readNodes(r, runs); err != nil {
		return err
	}
	for _, run := range behind {
		if err := t.Skip(run[0], run[1]); err != nil {
			return err
		}
	}
	for _, run := range append(runs, behind...) {
		t.next = max(t.next, run[1])
	}
	*s = *t
	return nil
}

// readNodes reads the bodies of the chunks in runs; one of zeros if there are none in a
// single run.
func (s *Sum) readNodes(r *reader, runs [][2]int) error {
	var nodes []dyadic.Node[*Moments]
	most := float64(len(r.data)) / s.layout.bodyBytes(r.width)
	for _, run := range runs {
		dyadic.Cover(run[0], run[1], func(start, level int) {
			if float64(len(nodes)) <= most {
				nodes = append(nodes, dyadic.Node[*Moments]{Start: start, Level: level})
			}
		})
	}
	none := len(nodes) == 0 && r.kind == kindSum
	bodies := len(nodes)
	if none {
		bodies = 1
	}
	if err := r.bodies(s.layout, bodies); err != nil {
		return err
	}
	pairs := s.layout.meeting()
	for _, n := range nodes {
		empty, err := r.zeros(s.layout)
		if err == nil && !empty {
			n.Value = blank(s.layout, pairs)
			if err = n.Value.readBody(r); err == nil {
				n.Value.pack()
				err = s.chunks.Add(n, s.merge)
			}
		} else if err == nil {
			err = s.chunks.AddNone(n.Start, n.Level, s.merge)
		}
		if err != nil {
			return inTerms(err)
		}
	}
	if none {
		if empty, err := r.zeros(s.layout); err != nil || !empty {
			return fmt.Errorf("moments: sums of no chunk are not zero: the file is damaged")
		}
	}
	return nil
}

func appendHeader(out []byte, l Layout, kind uint16, width []int) []byte {
	v := uint16(version)
	if l.Factor {
		v += factored
	}
	if l.identified() {
		v += identified
	}
	if width != nil {
		v = levelled
	}
	out = append(out, magic...)
	out = binary.LittleEndian.AppendUint16(out, v)
	return binary.LittleEndian.AppendUint16(out, kind)
}

func appendCRC(out []byte) []byte {
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, castagnoli()))
}

func appendLayout(out []byte, l Layout, width []int) []byte {
	put := func(v int) { out = binary.LittleEndian.AppendUint32(out, uint32(v)) }
	ids := l.identified() || width != nil
	put(len(l.Bases))
	for _, b := range l.Bases {
		put(len(b.Name))
		out = append(out, b.Name...)
		put(b.Dim)
		if ids {
			put(len(b.ID))
			out = append(out, b.ID...)
		}
	}
	put(len(l.Predictors))
	for _, bases := range l.Predictors {
		put(len(bases))
		for _, b := range bases {
			put(b)
		}
	}
	put(l.Responses)
	if l.Factor {
		put(1)
	}
	for _, w := range width {
		put(w)
	}
	return out
}

func (m *Moments) appendBody(out []byte, width []int) []byte {
	out = binary.LittleEndian.AppendUint64(out, uint64(m.Rows))
	out = binary.LittleEndian.AppendUint64(out, uint64(m.Positive))
	put := func(values []float64) {
		for _, v := range values {
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
		}
	}
	put([]float64{m.SumW, m.SumLogW})
	m.values(put, width)
	return out
}

// values visits the numbers of the body that follow the two sums of weights, in slices
// of m's memory, in the order of the format; with widths the products of these, if m has them so.
func (m *Moments) values(visit func([]float64), width []int) {
	for _, s := range [][]float64{m.Sum, m.MaxRowNorm, m.Mean, m.low, m.MeanR, m.lowR} {
		visit(s)
	}
	if m.R != nil {
		r := m.R.RawTriangular()
		for i := range r.N {
			visit(r.Data[i*r.Stride:][i:r.N])
		}
		return
	}
	if width != nil {
		visit(m.packed(width).data)
	} else {
		m.visitRows(visit)
	}
	visit(m.XR.RawMatrix().Data)
	visitTriangle(m.RR, visit)
}

func visitTriangle(a *mat.SymDense, visit func([]float64)) {
	s := a.RawSymmetric()
	for i := range s.N {
		visit(s.Data[i*s.Stride:][i:s.N])
	}
}

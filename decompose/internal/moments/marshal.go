package moments

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// The format, little endian throughout:
//
//	"PHOM", version uint16, kind uint16
//	layout: counts and dimensions as uint32, names as length and bytes
//	versions 3 and 4: after a basis' dimension its ID, like a name
//	versions 2 and 4: the route as uint32, 1 for the triangular factor
//	kind 1: one body
//	kind 2: first and next as int64, then one body per dyadic interval, or an
//	empty one if there is none
//	CRC-32C of all bytes before it
//
// A body holds rows and positive (int64), then float64s: sum w, sum log w, Sum,
// MaxRowNorm, Mean and its rounding errors, MeanR and its rounding errors, XX's
// upper triangle by rows, XR by rows, RR's upper triangle by rows; or R's upper
// triangle by rows, with a factor. So a file is at least half as large as what it
// decodes to. A layout is written in the least version that holds it.
const (
	magic       = "PHOM"
	version     = 1 // names and dimensions, products
	factored    = 1 // more for a version with a factor
	identified  = 2 // more for a version with IDs
	versions    = version + factored + identified
	kindMoments = 1
	kindSum     = 2
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
	out := appendHeader(nil, m.Layout, kindMoments)
	out = appendLayout(out, m.Layout)
	out = m.appendBody(out)
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
	n := empty(l, l.meeting())
	if err := n.readBody(r); err != nil {
		return err
	}
	*m = *n
	return nil
}

// MarshalBinary encodes s; sums of equal chunks have equal bytes.
func (s *Sum) MarshalBinary() ([]byte, error) {
	if err := s.layout.Check(); err != nil {
		return nil, err
	}
	out := appendHeader(nil, s.layout, kindSum)
	out = appendLayout(out, s.layout)
	out = binary.LittleEndian.AppendUint64(out, uint64(s.first))
	out = binary.LittleEndian.AppendUint64(out, uint64(s.next))
	out = slices.Grow(out, max(1, len(s.nodes))*int(s.layout.bodyBytes())+crcSize)
	for _, n := range s.nodes {
		out = n.m.appendBody(out)
	}
	if len(s.nodes) == 0 {
		out = New(s.layout).appendBody(out)
	}
	return appendCRC(out), nil
}

// UnmarshalBinary replaces s by what MarshalBinary encoded. It allocates no more
// than a small multiple of len(data); data is not kept. After an error s is
// unchanged.
func (s *Sum) UnmarshalBinary(data []byte) error {
	r, err := open(data, kindSum)
	if err != nil {
		return err
	}
	l, err := r.layout()
	if err != nil {
		return err
	}
	if len(r.data) < 16 {
		return errShort
	}
	first, next := r.uint64(), r.uint64()
	if first > next || next > math.MaxInt {
		return fmt.Errorf("moments: chunks [%d, %d) are no run: the file is damaged", first, next)
	}
	t := &Sum{layout: l, first: int(first), next: int(next)}
	dyadic(t.first, t.next, func(start, level int) {
		t.nodes = append(t.nodes, node{start: start, level: level})
	})
	if err := r.bodies(l, max(len(t.nodes), 1)); err != nil {
		return err
	}
	pairs := l.meeting()
	for i := range t.nodes {
		t.nodes[i].m = empty(l, pairs)
		if err := t.nodes[i].m.readBody(r); err != nil {
			return err
		}
	}
	if len(t.nodes) == 0 {
		body := r.data
		if err := empty(l, pairs).readBody(r); err != nil {
			return err
		}
		for _, b := range body[:len(body)-len(r.data)] {
			if b != 0 {
				return fmt.Errorf("moments: sums of no chunk are not zero: the file is damaged")
			}
		}
	}
	*s = *t
	return nil
}

func appendHeader(out []byte, l Layout, kind uint16) []byte {
	v := uint16(version)
	if l.Factor {
		v += factored
	}
	if l.identified() {
		v += identified
	}
	out = append(out, magic...)
	out = binary.LittleEndian.AppendUint16(out, v)
	return binary.LittleEndian.AppendUint16(out, kind)
}

func appendCRC(out []byte) []byte {
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, castagnoli()))
}

func appendLayout(out []byte, l Layout) []byte {
	put := func(v int) { out = binary.LittleEndian.AppendUint32(out, uint32(v)) }
	ids := l.identified()
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
	return out
}

func (m *Moments) appendBody(out []byte) []byte {
	out = binary.LittleEndian.AppendUint64(out, uint64(m.Rows))
	out = binary.LittleEndian.AppendUint64(out, uint64(m.Positive))
	put := func(values []float64) {
		for _, v := range values {
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
		}
	}
	put([]float64{m.SumW, m.SumLogW})
	m.values(put)
	return out
}

// values visits the numbers of the body that follow the two sums of weights, in slices
// of m's memory, in the order of the format.
func (m *Moments) values(visit func([]float64)) {
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
	visitTriangle(m.XX, visit)
	visit(m.XR.RawMatrix().Data)
	visitTriangle(m.RR, visit)
}

func visitTriangle(a *mat.SymDense, visit func([]float64)) {
	s := a.RawSymmetric()
	for i := range s.N {
		visit(s.Data[i*s.Stride:][i:s.N])
	}
}

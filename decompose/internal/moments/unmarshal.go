package moments

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
)

var errShort = errors.New("moments: the data end too early: the file is damaged")

// reader takes values off the front of data.
type reader struct {
	data       []byte
	kind       uint16
	ids, route bool // whether the layout has them
	levelled   bool // and widths,
	width      []int
}

func (r *reader) uint64() uint64 {
	v := binary.LittleEndian.Uint64(r.data)
	r.data = r.data[8:]
	return v
}

// open checks the frame: length, magic, version, kind, checksum.
func open(data []byte, kinds ...uint16) (*reader, error) {
	if len(data) < headerSize+crcSize {
		return nil, errShort
	}
	if string(data[:len(magic)]) != magic {
		return nil, fmt.Errorf("moments: the data begin with %q, not %q: this is no moments file", data[:len(magic)], magic)
	}
	v := binary.LittleEndian.Uint16(data[4:])
	if v < version || v > levelled {
		return nil, fmt.Errorf("moments: format version %d; this program reads versions %d to %d", v, version, levelled)
	}
	kind := binary.LittleEndian.Uint16(data[6:])
	if !slices.Contains(kinds, kind) {
		return nil, fmt.Errorf("moments: the data hold kind %d where kind %d is needed (1: moments, 2: a sum of chunks, 3: one with gaps)", kind, kinds[0])
	}
	body := data[:len(data)-crcSize]
	if crc32.Checksum(body, castagnoli()) != binary.LittleEndian.Uint32(data[len(body):]) {
		return nil, errors.New("moments: the checksum does not match: the file is damaged")
	}
	more := v - version
	if v == levelled {
		more = identified
	}
	return &reader{data: body[headerSize:], kind: kind, ids: more&identified != 0, route: more&factored != 0, levelled: v == levelled}, nil
}

// run reads first and next of a run of chunks.
func (r *reader) run() ([2]int, error) {
	first, next := r.uint64(), r.uint64()
	if first > next || next > math.MaxInt {
		return [2]int{}, fmt.Errorf("moments: chunks [%d, %d) are no run: the file is damaged", first, next)
	}
	return [2]int{int(first), int(next)}, nil
}

// allRuns reads runs with chunks and, behind them, those without.
func (r *reader) allRuns() (runs, behind [][2]int, err error) {
	at := 0
	for _, list := range []*[][2]int{&runs, &behind} {
		if len(r.data) < 8 {
			return nil, nil, errShort
		}
		n := r.uint64()
		if n > uint64(len(r.data)/16) {
			return nil, nil, errShort
		}
		for i := range n {
			run, err := r.run()
			if err != nil {
				return nil, nil, err
			}
			if run[0] < at || i > 0 && run[0] == at || run[0] == run[1] {
				return nil, nil, fmt.Errorf("moments: chunks [%d, %d) follow chunk %d: the file is damaged", run[0], run[1], at)
			}
			at = run[1]
			*list = append(*list, run)
		}
	}
	if len(runs) <= 1 && len(behind) == 0 {
		return nil, nil, errors.New("moments: a sum without gaps in the format of those with some: the file is damaged")
	}
	return runs, behind, nil
}

// zeros skips a body that is all zeros, that of no rows, if the next is; a body of no rows
// that is not is an error.
func (r *reader) zeros(l Layout) (bool, error) {
	body := r.data[:int(l.bodyBytes(r.width))]
	if binary.LittleEndian.Uint64(body) != 0 {
		return false, nil
	}
	for _, b := range body {
		if b != 0 {
			return false, errors.New("moments: sums of no rows are not zero: the file is damaged")
		}
	}
	r.data = r.data[len(body):]
	return true, nil
}

// count reads a number of items of at least size bytes each, all present.
func (r *reader) count(size int) (int, error) {
	if len(r.data) < 4 {
		return 0, errShort
	}
	v := int64(binary.LittleEndian.Uint32(r.data))
	r.data = r.data[4:]
	if v*int64(size) > int64(len(r.data)) {
		return 0, errShort
	}
	return int(v), nil
}

// text reads bytes behind their number.
func (r *reader) text() (string, error) {
	length, err := r.count(1)
	if err != nil {
		return "", err
	}
	s := string(r.data[:length])
	r.data = r.data[length:]
	return s, nil
}

// layout reads a layout. Its dimensions are checked against the bytes that are
// left by bodies.
func (r *reader) layout() (Layout, error) {
	var l Layout
	fail := func(err error) (Layout, error) { return Layout{}, err }
	n, err := r.count(8)
	if err != nil {
		return fail(err)
	}
	l.Bases = make([]Basis, n)
	for i := range l.Bases {
		b := &l.Bases[i]
		if b.Name, err = r.text(); err != nil {
			return fail(err)
		}
		if b.Dim, err = r.count(0); err != nil {
			return fail(err)
		}
		if !r.ids {
			continue
		}
		if b.ID, err = r.text(); err != nil {
			return fail(err)
		}
	}
	if r.ids && !r.levelled && !l.identified() {
		return fail(errors.New("moments: a version with IDs of bases, but none has one: the file is damaged"))
	}
	if n, err = r.count(4); err != nil {
		return fail(err)
	}
	for range n {
		m, err := r.count(4)
		if err != nil {
			return fail(err)
		}
		bases := make([]int, m)
		for i := range bases {
			if bases[i], err = r.count(0); err != nil {
				return fail(err)
			}
		}
		l.Predictors = append(l.Predictors, bases)
	}
	if l.Responses, err = r.count(0); err != nil {
		return fail(err)
	}
	if r.route {
		route, err := r.count(0)
		if err != nil {
			return fail(err)
		}
		if route != 1 {
			return fail(fmt.Errorf("moments: route %d; this program knows 1, the triangular factor", route))
		}
		l.Factor = true
	}
	if err := l.Check(); err != nil {
		return fail(fmt.Errorf("%w: the file is damaged", err))
	}
	if !r.levelled {
		return l, nil
	}
	for _, b := range l.Bases {
		w, err := r.count(0)
		if err != nil {
			return fail(err)
		}
		if w < 1 || w > b.Dim {
			return fail(fmt.Errorf("moments: the width %d of %d columns: the file is damaged", w, b.Dim))
		}
		r.width = append(r.width, w)
	}
	return l, nil
}

// bodies checks that exactly n bodies of layout l are left, before anything of
// their size is allocated.
func (r *reader) bodies(l Layout, n int) error {
	if need := float64(n) * l.bodyBytes(r.width); need != float64(len(r.data)) {
		return fmt.Errorf("moments: %d bytes of sums where the layout needs %.0f: the file is damaged", len(r.data), need)
	}
	return nil
}

// bodyBytes is the size of a body; a float64, for a damaged layout may need more than
// an int counts. width is by basis; nil: all products are there.
func (l Layout) bodyBytes(width []int) float64 {
	p, k := float64(l.Columns()), float64(l.Responses)
	sums := 2 + 3*p + float64(len(l.Bases)) + 2*k
	if l.Factor {
		c := float64(l.factorColumns()) + k
		sums += c * (c + 1) / 2
	} else {
		sums += p*(p+1)/2 + p*k + k*(k+1)/2
		for a, w := range width {
			left := float64(l.Bases[a].Dim - w)
			sums -= left * (left + 1) / 2
		}
	}
	return 16 + 8*sums
}

// readBody fills m, which is empty, and checks what must hold of any sums.
func (m *Moments) readBody(r *reader) error {
	rows, positive := r.uint64(), r.uint64()
	if rows > math.MaxInt64 || positive > rows {
		return fmt.Errorf("moments: %d of %d rows have positive weight: the file is damaged", positive, rows)
	}
	m.Rows, m.Positive = int64(rows), int64(positive)
	if r.width == nil {
		m.zero()
	} else {
		m.held = m.held.sized(m.Layout.offsets(), r.width)
	}
	faults := 0
	take := func(values []float64) {
		for j := range values {
			values[j] = math.Float64frombits(r.uint64())
			if !finite(values[j]) {
				faults++
			}
		}
	}
	var w [2]float64
	take(w[:])
	m.SumW, m.SumLogW = w[0], w[1]
	m.values(take, r.width)
	if faults > 0 {
		return fmt.Errorf("moments: %d sums are not finite: the file is damaged", faults)
	}
	if m.SumW < 0 || (m.SumW > 0) != (m.Positive > 0) {
		return fmt.Errorf("moments: weights of %d rows sum to %g: the file is damaged", m.Positive, m.SumW)
	}
	squares, squaresR := m.squares()
	for j, v := range squares {
		if v < 0 {
			return fmt.Errorf("moments: column %d has the sum of squares %g: the file is damaged", j, v)
		}
	}
	for k, v := range squaresR {
		if v < 0 {
			return fmt.Errorf("moments: response %d has the sum of squares %g: the file is damaged", k, v)
		}
	}
	if m.R != nil { // finite entries may have infinite squares
		return m.Check()
	}
	if n := m.strays(); n > 0 {
		return fmt.Errorf("moments: %d products of columns that never meet: the file is damaged", n)
	}
	return nil
}

// strays counts products other than 0 of bases that never meet.
func (m *Moments) strays() (n int) {
	off := m.Layout.offsets()
	meet := make([][]bool, len(m.Layout.Bases))
	for a := range meet {
		meet[a] = make([]bool, len(meet))
	}
	for _, q := range m.pairs {
		meet[q.a][q.b] = true
	}
	for a := range meet {
		for i := off[a]; i < off[a+1]; i++ {
			own, rest := m.row(i, off[a+1])
			if !meet[a][a] {
				n += nonZeros(own)
			}
			for b := a + 1; b < len(meet); b++ {
				if !meet[a][b] {
					n += nonZeros(rest[off[b]-off[a+1] : off[b+1]-off[a+1]])
				}
			}
		}
	}
	return n
}

func nonZeros(v []float64) (n int) {
	for _, x := range v {
		if x != 0 {
			n++
		}
	}
	return n
}

package data

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/pho-go/pho/internal/base/decimal"
)

// parsed is what parse made of a block.
type parsed struct {
	plain   bool           // all of it could be parsed; if not, the rest says nothing
	rows    int            // records
	ends    int            // lines up to the end of the last record
	dropped bool           // some of them are not kept
	kept    []int32        // if so, those that are
	columns []parsedColumn // the requested ones
}

// parsedColumn holds a requested column's cells of the records that are kept.
type parsedColumn struct {
	values []float64
	*coded // nil if the column is not categorical; then there are no values
}

// coded are cells as categories.
type coded struct {
	codes  []int32  // positions in cells
	cells  interner // of the block
	kinds  []kind   // of the cells
	order  []int32  // if records are not kept: the cells of those that are, in their order
	levels []level  // of the cells
}

// wanted says which cells a pass wants, and how they are read.
type wanted struct {
	comma   byte
	cells   *notation
	na      NAPolicy
	record  int       // bytes that a record may have
	columns []filling // requested
	of      []int     // by field: position in columns, -1: not requested
}

func (p *pass) wanted(fields int) *wanted {
	w := &wanted{comma: p.csv.comma, cells: &p.csv.cells, na: p.csv.na, record: p.csv.limits.record, columns: p.columns, of: make([]int, fields)}
	for i := range w.of {
		w.of[i] = -1
	}
	for j := range p.columns {
		w.of[p.columns[j].at] = j
	}
	return w
}

// parse parses a block's records if they are as they should be. Whatever is not, a cell at
// fault or what only package encoding/csv knows, it leaves to pass.slowly, which reads the
// block from its beginning.
func (b *block) parse(w *wanted) {
	b.plain = false
	if b.tail != nil {
		return
	}
	b.begin(w)
	n := len(b.text)
	text := b.text[:n+behind]
	clear(text[n:])
	if n > 0 && text[n-1] != '\n' {
		text[n] = '\n'
	}
	b.plain = b.records(w, text, n)
	if b.plain && b.dropped {
		b.compact()
	}
}

// begin makes room: every record has at least a byte for each of its cells.
func (b *block) begin(w *wanted) {
	most := min(b.lines, len(b.text)/len(w.of)) + 1
	b.rows, b.ends, b.dropped, b.kept = 0, 0, false, b.kept[:0]
	if b.columns == nil {
		b.columns = make([]parsedColumn, len(w.columns))
	}
	for j := range b.columns {
		column := &b.columns[j]
		if w.columns[j].levels == nil {
			column.values = room(column.values, most)
			continue
		}
		if column.coded == nil {
			column.coded = &coded{cells: newInterner()}
		}
		column.codes = room(column.codes, most)
		column.cells.reset()
		column.kinds = column.kinds[:0]
	}
}

func room[T any](v []T, n int) []T {
	if cap(v) < n {
		return make([]T, n)
	}
	return v[:n]
}

// records parses the records in the first n bytes of text, behind which there is a line end.
func (b *block) records(w *wanted, text []byte, n int) bool {
	last := len(w.of) - 1
	end := 0 // of the last record
	for i := 0; i < n; {
		if blank := blankLine(text[i:]); blank > 0 {
			if last == 0 {
				return false // it may be a row
			}
			i += blank
			continue
		}
		first, keep := i, true
		for field, j := range w.of {
			var ok bool
			if j >= 0 && w.columns[j].fast {
				i, ok = b.number(w, j, text, i, &keep)
			} else {
				i, ok = b.cell(w, j, text, i, &keep)
			}
			if !ok || i > n || (text[i] == '\n') != (field == last) {
				return false
			}
			i++
		}
		if i-first > w.record {
			return false
		}
		b.keep(keep)
		end = i
	}
	b.ends = b.lines
	if end < n {
		b.ends -= bytes.Count(text[end:n], newline)
	}
	return true
}

// keep counts a record, which is kept or not.
func (b *block) keep(it bool) {
	if !it && !b.dropped {
		b.dropped = true
		for row := range b.rows {
			b.kept = append(b.kept, int32(row))
		}
	}
	if it && b.dropped {
		b.kept = append(b.kept, int32(b.rows))
	}
	b.rows++
}

// blankLine is how many bytes a blank line takes with which text begins.
func blankLine(text []byte) int {
	switch {
	case text[0] == '\n':
		return 1
	case text[0] == '\r' && text[1] == '\n':
		return 2
	}
	return 0
}

// number takes the cell of a column of numbers at place i of text and returns the place of
// what ends it, the delimiter or \n.
func (b *block) number(w *wanted, j int, text []byte, i int, keep *bool) (int, bool) {
	v, k := decimal.Prefix(text[i:])
	if k > 0 {
		end := i + k
		if text[end] == '\r' && text[end+1] == '\n' {
			end++
		}
		if (text[end] == w.comma || text[end] == '\n') && v < beyond && v > -beyond {
			b.columns[j].values[b.rows] = v
			return end, true
		}
	}
	return b.cell(w, j, text, i, keep)
}

// cell takes the cell of any column at place i of text. Column -1 is one that nobody wants.
func (b *block) cell(w *wanted, j int, text []byte, i int, keep *bool) (end int, ok bool) {
	var cell []byte
	if text[i] == '"' {
		cell, end = quoted(w.comma, text, i)
	} else {
		end = cellEnd(text, i, w.comma)
		cell = text[i:end]
		if text[end] == '\n' {
			cell = bytes.TrimSuffix(cell, carriage)
		}
	}
	if end < 0 || text[end] == '"' || j < 0 {
		return max(end, 0), end >= 0 && text[end] != '"'
	}
	column, f := &b.columns[j], &w.columns[j]
	k := number
	if f.levels == nil {
		column.values[b.rows], k = f.number(w.cells, string(cell))
	} else {
		code, fresh := column.cells.code(cell)
		if column.codes[b.rows] = code; fresh {
			column.kinds = append(column.kinds, f.check(w.cells, string(cell)))
		}
		k = column.kinds[code]
	}
	switch {
	case k == number:
	case k == missing && w.na == NAKeep:
		if f.levels == nil {
			column.values[b.rows] = math.NaN()
		}
	case k == missing && w.na == NADrop:
		*keep = false
	default:
		return 0, false
	}
	return end, true
}

const low, high = 0x0101010101010101, 0x8080808080808080

// cellEnd is the place of the first delimiter, line end or quote from i on.
func cellEnd(text []byte, i int, comma byte) int {
	commas := low * uint64(comma)
	for ; ; i += 8 {
		c := binary.LittleEndian.Uint64(text[i:])
		x, y, z := c^commas, c^(low*'\n'), c^(low*'"')
		// The lowest bit that is set tells the first byte that is zero in one of them.
		if found := ((x-low)&^x | (y-low)&^y | (z-low)&^z) & high; found != 0 {
			return i + bits.TrailingZeros64(found)>>3
		}
	}
}

// quoted is the content of the cell in quotes at place i, and the place of what ends it; -1
// if it is not well-formed.
func quoted(comma byte, text []byte, i int) (cell []byte, end int) {
	first, copied := i+1, false
	for i = first; ; i += 2 {
		k := bytes.IndexByte(text[i:], '"')
		if k < 0 {
			return nil, -1
		}
		if copied {
			cell = append(cell, text[i:i+k]...)
		}
		if i += k; text[i+1] != '"' {
			break
		}
		if !copied {
			cell, copied = append(cell, text[first:i]...), true
		}
		cell = append(cell, '"')
	}
	if !copied {
		cell = text[first:i]
	}
	if i++; text[i] == '\r' && text[i+1] == '\n' {
		i++
	}
	if text[i] != comma && text[i] != '\n' {
		return nil, -1
	}
	return cell, i
}

// compact moves the cells of kept records together, and finds the order in which they show
// levels.
func (b *block) compact() {
	for j := range b.columns {
		column := &b.columns[j]
		if column.coded == nil {
			for i, row := range b.kept {
				column.values[i] = column.values[row]
			}
			continue
		}
		seen := make([]bool, len(column.cells.texts))
		column.order = column.order[:0]
		for i, row := range b.kept {
			code := column.codes[row]
			column.codes[i] = code
			if !seen[code] {
				seen[code] = true
				column.order = append(column.order, code)
			}
		}
	}
}

package parquet

import (
	"errors"
	"math"
	"strconv"

	"github.com/pho-go/pho/data/internal/columnar"
)

// column decodes a column of a row group.
type column interface {
	read(n int, v *columnar.Values) error // the next n rows
	at() *cells
}

// at is where the column is.
func (c *cells) at() *cells { return c }

// skip passes over the next n rows. Pages that hold no other rows are not decompressed.
func skip(c column, n int64) error {
	if l, ok := c.(*lists); ok {
		return l.skip(n)
	}
	const few = 4096 // decoded at a time
	for n > 0 {
		at := c.at()
		if at.left == 0 {
			rows, err := at.pages.pass(n)
			if n -= rows; n == 0 || err != nil {
				return err
			}
		}
		k := min(n, few)
		if at.left > 0 {
			k = min(k, int64(at.left))
		}
		if err := c.read(int(k), new(columnar.Values)); err != nil {
			return err
		}
		n -= k
	}
	return nil
}

// newColumn begins to decode a column whose pages p reads.
func newColumn(e *element, p *pages) (column, error) {
	c := cells{pages: p}
	if value := e.wide(); value != nil {
		t := &wide{text: text{cells: c, seen: columnar.NewInterner()}, value: value}
		switch e.kind {
		case kindInt96:
			t.width = 12
		case kindFixed:
			t.width = int(e.length)
		}
		return t, t.dictionary()
	}
	if e.kind == kindBytes {
		t := &text{cells: c, seen: columnar.NewInterner()}
		err := t.dictionary()
		if e.ordered && err == nil {
			for _, entry := range t.entries {
				t.order = append(t.order, string(entry))
			}
		}
		return t, err
	}
	_, bits, signed := e.meaning()
	n := &numbers{cells: c, kind: e.kind, bits: bits, signed: signed || bits == 0, per: e.per()}
	if l, _, _ := e.meaning(); l == logicalDecimal {
		n.decimal, n.scale = true, int(e.scale)
	}
	switch e.kind {
	case kindInt32, kindFloat:
		n.width = 4
	case kindInt64, kindDouble:
		n.width = 8
	case kindFixed:
		n.width = 2
	}
	err := n.dictionary()
	if e.lists != nil {
		return newLists(e, n), err
	}
	return n, err
}

// cells tells which rows of a column are null.
type cells struct {
	pages *pages
	page  page // the current one
	left  int  // rows of it
	fresh bool // no value of it is decoded yet
	defs  []uint32
}

// take begins the next rows of a page, at most n. It returns how many rows these are and
// how many of them are not null; defs are their definition levels (1: not null), nil if
// none is null.
func (c *cells) take(n int) (rows, present int, defs []uint32, err error) {
	if c.left == 0 {
		if c.pages.rows == 0 {
			return 0, 0, nil, errShort
		}
		if c.page, err = c.pages.next(); err != nil {
			return 0, 0, nil, err
		}
		c.left, c.fresh = c.page.values, true
	}
	rows = min(n, c.left)
	c.left -= rows
	if c.page.levels == nil || c.page.levels.constant(1, rows) {
		return rows, rows, nil, nil
	}
	c.defs = grow(c.defs, rows)
	defs = c.defs[:rows]
	if err := c.page.levels.read(defs); err != nil {
		return 0, 0, nil, err
	}
	for _, d := range defs {
		present += int(d & 1)
	}
	return rows, present, defs, nil
}

// numbers decodes a column of numbers.
type numbers struct {
	cells
	kind    physical
	width   int // bytes of a value; 0: a bit
	bits    int64
	signed  bool
	per     int64 // of dates and times: units in one of what they are read as
	decimal bool
	scale   int      // of decimals
	table   []uint64 // the dictionary
	decoder decoder
	scratch []uint64
}

func (c *numbers) dictionary() error {
	there, n, body, err := c.pages.dictionary()
	if err != nil || !there {
		return err
	}
	if c.width == 0 || n > len(body)/c.width {
		return errValue
	}
	c.pages.budget.Take(8 * int64(n))
	c.table = make([]uint64, n)
	return (&plainNumbers{body, c.width}).read(c.table)
}

func (c *numbers) read(n int, v *columnar.Values) error {
	v.Numbers = columnar.Fresh(n)
	for at := 0; at < n; {
		rows, present, defs, err := c.take(n - at)
		if err != nil {
			return err
		}
		out := v.Numbers[at : at+rows]
		if present > 0 {
			if c.fresh {
				if c.decoder, err = newDecoder(c.page, c.kind, c.width, c.table); err != nil {
					return err
				}
				c.fresh = false
			}
			if k, cell, err := c.decode(out[:present]); err != nil {
				return err
			} else if cell != "" && v.Fault == nil {
				v.Fault = &columnar.Fault{Row: at + rowOf(k, defs), Cell: cell, Reason: columnar.Inexact}
				v.Digits = make([]string, n)
				c.digits(v.Digits[at:at+rows], defs)
			} else if cell != "" {
				c.digits(v.Digits[at:at+rows], defs)
			}
		}
		if defs != nil {
			spread(out, present, defs)
		}
		at += rows
	}
	v.Inspect()
	return nil
}

// decode decodes values that are not null. cell is the first that float64 would
// round, k its position.
func (c *numbers) decode(out []float64) (k int, cell string, err error) {
	if d, ok := c.decoder.(interface{ doubles([]float64) error }); ok && c.kind == kindDouble {
		return 0, "", d.doubles(out)
	}
	c.scratch = grow(c.scratch, len(out))
	raw := c.scratch[:len(out)]
	if err := c.decoder.read(raw); err != nil {
		return 0, "", err
	}
	if k = c.convert(out, raw); k >= 0 {
		cell = c.cell(raw[k])
	}
	return k, cell, nil
}

// digits writes the values just decoded that float64 would round to their rows.
func (c *numbers) digits(rows []string, defs []uint32) {
	raw := c.scratch
	for i := range rows {
		if defs != nil && defs[i]&1 == 0 {
			continue
		}
		if beyond := raw[0] > exact; beyond && (!c.signed || int64(raw[0]) > 0 || int64(raw[0]) < -exact) {
			rows[i] = c.cell(raw[0])
		}
		raw = raw[1:]
	}
}

// rowOf is the row of the value k of those that are not null.
func rowOf(k int, defs []uint32) int {
	for i, d := range defs {
		if d&1 == 1 {
			if k--; k < 0 {
				return i
			}
		}
	}
	return k // there are no nulls
}

// spread moves the values, in place and from the end, to the rows that are not null.
func spread(out []float64, present int, defs []uint32) {
	k := present - 1
	for i := len(out) - 1; i > k; i-- {
		if defs[i]&1 == 0 {
			out[i] = columnar.Null
		} else {
			out[i] = out[k]
			k--
		}
	}
}

// exact is the largest whole number up to which float64 holds all.
const exact = 1 << 53

// convert makes numbers of bits. It returns the first value that float64 would
// round, -1 if there is none.
func (c *numbers) convert(out []float64, raw []uint64) int {
	bad := -1
	switch {
	case c.kind == kindDouble:
		for i, b := range raw {
			out[i] = math.Float64frombits(b)
		}
	case c.kind == kindFloat:
		for i, b := range raw {
			out[i] = float64(math.Float32frombits(uint32(b)))
		}
	case c.kind == kindBool:
		for i, b := range raw {
			out[i] = float64(b)
		}
	case c.kind == kindFixed:
		for i, b := range raw {
			out[i] = columnar.Half(uint16(b))
		}
	case c.decimal && c.kind == kindInt32:
		for i, b := range raw {
			out[i] = columnar.Decimal(int64(int32(b)), c.scale)
		}
	case c.decimal:
		for i, b := range raw {
			out[i] = columnar.Decimal(int64(b), c.scale)
		}
	case c.per > 0 && c.kind == kindInt32:
		for i, b := range raw {
			out[i] = columnar.Scaled(int64(int32(b)), c.per)
		}
	case c.per > 0:
		for i, b := range raw {
			out[i] = columnar.Scaled(int64(b), c.per)
		}
	case c.kind == kindInt32 && c.signed:
		for i, b := range raw {
			out[i] = float64(int32(b))
		}
	case c.kind == kindInt32:
		unused := 32 - c.bits
		for i, b := range raw {
			out[i] = float64(uint32(b) << unused >> unused)
		}
	case c.signed:
		for i, b := range raw {
			if v := int64(b); bad < 0 && (v > exact || v < -exact) {
				bad = i
			}
			out[i] = float64(int64(b))
		}
	default:
		for i, b := range raw {
			if bad < 0 && b > exact {
				bad = i
			}
			out[i] = float64(b)
		}
	}
	return bad
}

// cell is a whole number of 64 bits as text.
func (c *numbers) cell(raw uint64) string {
	if c.signed {
		return strconv.FormatInt(int64(raw), 10)
	}
	return strconv.FormatUint(raw, 10)
}

// wide decodes numbers that are stored otherwise than as numbers: as text, each of which is one.
type wide struct {
	text
	value  func(b []byte) float64
	values []float64 // of seen
}

func (c *wide) read(n int, v *columnar.Values) error {
	var codes columnar.Values
	if err := c.text.read(n, &codes); err != nil {
		return err
	}
	for k := len(c.values); k < len(codes.Levels); k++ {
		c.values = append(c.values, c.value([]byte(codes.Levels[k])))
	}
	v.Numbers = columnar.Fresh(n)
	for i, k := range codes.Codes {
		v.Numbers[i] = columnar.Null
		if k >= 0 {
			v.Numbers[i] = c.values[k]
		}
	}
	v.Inspect()
	return nil
}

// text decodes a column of text into codes, which count the levels of the row group in
// the order in which it shows them.
type text struct {
	cells
	entries [][]byte // the dictionary
	codes   []int32  // of its entries; -1: no row has shown the entry yet
	indices *hybrid
	texts   texts
	scratch []uint32
	seen    *columnar.Interner
	bytes   int
	width   int // bytes of each text; 0: they say themselves
	order   []string
}

func (c *text) dictionary() error {
	there, n, body, err := c.pages.dictionary()
	if err != nil || !there {
		return err
	}
	least := 4 // the length of a text
	if c.width > 0 {
		least = c.width
	}
	if n > len(body)/least {
		return errValue
	}
	c.pages.budget.Take((24 + 4) * int64(n))
	c.entries, c.codes = make([][]byte, n), make([]int32, n)
	for i := range n {
		if c.width > 0 {
			c.entries[i], body = body[:c.width], body[c.width:]
		} else if c.entries[i], body, err = prefixed(body); err != nil {
			return err
		}
		c.codes[i] = -1
	}
	return nil
}

func (c *text) read(n int, v *columnar.Values) error {
	v.Codes = make([]int32, n)
	for at := 0; at < n; {
		rows, present, defs, err := c.take(n - at)
		if err != nil {
			return err
		}
		if present > 0 && c.fresh {
			if err := c.begin(); err != nil {
				return err
			}
			c.fresh = false
		}
		out := v.Codes[at : at+rows]
		if c.indices != nil && present > 0 {
			c.scratch = grow(c.scratch, present)
			if err := c.indices.read(c.scratch[:present]); err != nil {
				return err
			}
		}
		k := 0
		if defs == nil && c.indices != nil {
			k = c.knownOf(out, c.scratch)
		}
		for i := k; i < len(out); i++ {
			if defs != nil && defs[i]&1 == 0 {
				out[i] = -1
				continue
			}
			if c.indices != nil {
				out[i], err = c.known(c.scratch[k])
			} else {
				var level []byte
				if level, err = c.texts.next(); err == nil {
					out[i], err = c.code(level)
				}
			}
			if err != nil {
				return err
			}
			k++
		}
		at += rows
	}
	v.Levels, v.Order = c.seen.Names, c.order
	return nil
}

// begin begins to decode the values of the current page.
func (c *text) begin() (err error) {
	c.indices, c.texts = nil, nil
	if e := c.page.encoding; e == plainDictionary || e == rleDictionary {
		c.indices, err = newIndices(c.page.body, c.entries != nil)
		return err
	}
	if c.width > 0 && c.page.encoding == plain {
		c.texts = &fixedTexts{c.page.body, c.width}
		return nil
	}
	c.texts, err = newTexts(c.page, c.pages.budget)
	return err
}

// knownOf sets the codes of positions in the dictionary, up to the first position whose
// entry no row has shown yet, or that is outside of it. It returns how many it set.
func (c *text) knownOf(out []int32, positions []uint32) int {
	for i, k := range positions[:len(out)] {
		if uint64(k) >= uint64(len(c.codes)) || c.codes[k] < 0 {
			return i
		}
		out[i] = c.codes[k]
	}
	return len(out)
}

// known is the code of an entry of the dictionary.
func (c *text) known(k uint32) (int32, error) {
	if uint64(k) >= uint64(len(c.entries)) {
		return 0, errIndex(k, len(c.entries))
	}
	if code := c.codes[k]; code >= 0 {
		return code, nil
	}
	code, err := c.code(c.entries[k])
	if err == nil {
		c.codes[k] = code
	}
	return code, err
}

func (c *text) code(level []byte) (int32, error) {
	met := len(c.seen.Names)
	code := c.seen.Code(level)
	if int(code) == met {
		if c.bytes += len(level) + 64; c.bytes > columnar.LevelBytes {
			return 0, errors.New("the levels take more memory than allowed; leave out columns that name single rows")
		}
	}
	return code, nil
}

package columnar

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Batches reads the files from the start and yields the named columns; others
// are not decoded. An unknown name is an error that says the nearest known one.
// The context is checked before every batch.
func (s *Source) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	return func(yield func(*data.Batch, error) bool) {
		p, err := s.newPass(columns)
		if err != nil {
			yield(nil, err)
			return
		}
		begin := int64(0) // the first row of the file
		for k, f := range s.files {
			first, next := s.span.First-begin, s.span.End()-begin
			begin += f.Len()
			if next <= 0 || first > 0 && first >= f.Len() {
				continue
			}
			p.row = max(first, 0)
			fields, order := p.in(k)
			for block, err := range f.Blocks(ctx, fields, p.rows, p.row, next) {
				if stopped := ctx.Err(); stopped != nil {
					err = stopped // a decoder may have made another error of it
				}
				var b *data.Batch
				if err == nil && order != nil {
					values := make([]Values, len(order))
					for i, j := range order {
						values[j] = block.Values[i]
					}
					block.Values = values
				}
				if err == nil {
					p.fill(block)
					b, err = p.batch(f.Name(), block)
				}
				if err != nil {
					yield(nil, err)
					return
				}
				p.advance(block.Rows, b.Rows())
				if b.Rows() > 0 && !yield(b, nil) {
					return
				}
			}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.total, s.dropped = p.total, p.dropped
	}
}

// fill makes tensors without a row that is there, whose file does not know their shape, ones of nulls, and lists of one number
// numbers.
func (p *pass) fill(block *Block) {
	for j, field := range p.fields {
		f, v := p.Source.fields[field], &block.Values[j]
		switch {
		case f.Kind == Number && v.Tensor != nil:
			v.Numbers, v.Tensor = v.Tensor.RawMatrix().Data, nil
		case f.Kind == Number && v.Numbers == nil:
			v.Numbers = slices.Repeat([]float64{Null}, block.Rows)
		case f.Kind == Tensor && v.Tensor == nil:
			v.Tensor = mat.NewDense(block.Rows, f.Width, slices.Repeat([]float64{Null}, block.Rows*f.Width))
		}
	}
}

// in are the requested fields in the k-th file, in its order, and which of p.fields each is; nil:
// they are in the order of p.fields.
func (p *pass) in(k int) (fields, order []int) {
	places := p.places[k]
	if places == nil {
		return p.fields, nil
	}
	for j := range p.fields {
		order = append(order, j)
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(places[p.fields[a]], places[p.fields[b]]) })
	for _, j := range order {
		fields = append(fields, places[p.fields[j]])
	}
	return fields, order
}

// pass is one reading of all files.
type pass struct {
	*Source
	fields  []int // requested, in file order
	coders  []*coder
	rows    int   // of a block
	row     int64 // of the file: the first of the next block
	total   int64 // rows read
	dropped int64 // of these, left out
}

func (s *Source) newPass(columns []string) (*pass, error) {
	if err := s.require(columns); err != nil {
		return nil, err
	}
	wanted := make(map[string]bool, len(columns))
	for _, name := range columns {
		wanted[name] = true
	}
	p := &pass{Source: s}
	cells := 0
	for i, c := range s.schema {
		if !wanted[c.Name] {
			continue
		}
		p.fields = append(p.fields, i)
		var k *coder
		if d := s.levels[i]; d != nil {
			k = newCoder(d)
			k.digits = !c.Numeric
		}
		p.coders = append(p.coders, k)
		cells += max(1, c.Width)
	}
	p.rows = max(1, min(s.rows, maxCells/max(1, cells)))
	return p, nil
}

// batch makes a batch of the rows of a block that are to be kept.
func (p *pass) batch(file string, block *Block) (*data.Batch, error) {
	keep, err := p.keep(file, block)
	if err != nil {
		return nil, err
	}
	n := block.Rows
	if keep != nil {
		n = len(keep)
	}
	number := p.span.Number + p.total
	b := data.NewBatch(n, number)
	if n == 0 {
		return b, nil
	}
	if keep != nil {
		rows := make([]int64, n)
		for i, k := range keep {
			rows[i] = number + int64(k)
		}
		if err := b.SetRows(rows); err != nil {
			return nil, err
		}
	}
	for j, field := range p.fields {
		v := &block.Values[j]
		v.take(keep)
		f := p.Source.fields[field]
		switch f.Kind {
		case Tensor:
			err = b.SetTensor(f.Name, v.Tensor)
		case Number:
			if p.schema[field].Numeric {
				err = b.SetNumeric(f.Name, v.Numbers)
			}
		}
		if err == nil && p.coders[j] != nil {
			codes, fault := p.coders[j].codes(f, v, n)
			if fault != nil {
				if keep != nil {
					fault.Row = keep[fault.Row]
				}
				return nil, p.cellError(file, field, fault)
			}
			err = b.SetCodes(f.Name, codes)
			for i, digits := range v.Digits {
				if digits != "" {
					v.Numbers[i] = math.NaN()
				}
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

// missing tells whether cell i of a column that is no tensor is missing.
func (v *Values) missing(f Field, i int) bool {
	switch {
	case f.Kind == Number:
		return math.IsNaN(v.Numbers[i])
	case v.Text != nil:
		return v.Text[i] == nil
	}
	return v.Codes[i] < 0
}

// advance counts a block of n rows, of which kept are.
func (p *pass) advance(n, kept int) {
	p.total += int64(n)
	p.row += int64(n)
	p.dropped += int64(n - kept)
}

// codes are the codes of a column's n rows, all of them levels.
func (c *coder) codes(f Field, v *Values, n int) (data.Codes, *Fault) {
	index := make([]int32, n)
	first := 0
	if f.Kind == Text && v.Text == nil {
		first = c.translate(index, v)
	}
	for i := first; i < n; i++ {
		var ok bool
		var cell string
		switch {
		case v.Digits != nil && v.Digits[i] != "":
			if index[i], ok = c.levels.add(v.Digits[i]); !ok {
				cell = v.Digits[i]
			}
		case v.missing(f, i):
			if index[i], ok = c.levels.add(data.MissingLevel); !ok {
				cell = data.MissingLevel
			}
		case f.Kind == Number:
			if index[i], ok = c.ofNumber(v.Numbers[i]); !ok {
				cell = data.LevelText(v.Numbers[i])
			}
		case v.Text != nil:
			if index[i], ok = c.ofText(v.Text[i]); !ok {
				cell = string(v.Text[i])
			}
		default:
			if index[i], ok = c.ofLevel(v.Codes[i], v.Levels); !ok {
				cell = v.Levels[v.Codes[i]]
			}
		}
		if !ok {
			return data.Codes{}, &Fault{Row: i, Cell: cell, Reason: "is one level too many: the levels of all columns take more memory than allowed; leave out columns that name single rows"}
		}
	}
	codes := data.Codes{Index: index, Levels: c.levels.snapshot()}
	if v.Order != nil {
		codes.Declared = [][]string{v.Order}
	}
	return codes, nil
}

// keep returns the rows of a block that are kept, nil for all of them. The error
// is that of the first row at fault, whatever the order of the columns.
func (p *pass) keep(file string, block *Block) ([]int, error) {
	drop := make([]bool, 0)
	tensor := false
	missing := func(i int) bool {
		if p.na != data.NADrop {
			return p.na == data.NAKeep && !tensor
		}
		if len(drop) == 0 {
			drop = make([]bool, block.Rows)
		}
		drop[i] = true
		return true
	}
	var worst *Fault
	at := 0
	for j, field := range p.fields {
		f := p.Source.fields[field]
		tensor = f.Kind == Tensor
		if block.Values[j].Digits != nil && p.Source.levels[field] != nil {
			block.Values[j].Fault = nil // its digits are levels
		}
		if err := block.Values[j].check(f, block.Rows); err != nil {
			return nil, fmt.Errorf("data: %q, column %q: %w", file, Clip(f.Name), err)
		}
		if fault := block.Values[j].fault(f, missing); fault != nil && (worst == nil || fault.Row < worst.Row) {
			worst, at = fault, field
		}
	}
	if worst != nil {
		return nil, p.cellError(file, at, worst)
	}
	if len(drop) == 0 {
		return nil, nil
	}
	keep := make([]int, 0, block.Rows)
	for i, d := range drop {
		if !d {
			keep = append(keep, i)
		}
	}
	return keep, nil
}

func (p *pass) cellError(file string, field int, f *Fault) error {
	err := &data.CellError{File: file, Row: p.row + int64(f.Row) + 1, Column: Clip(p.Source.fields[field].Name), Cell: Clip(f.Cell), Reason: f.Reason}
	switch {
	case f.missing:
		err.Err = data.ErrMissingValue
	case f.unequal:
		err.Err = data.ErrShape
	case f.Reason == Inexact && p.Source.fields[field].Kind == Tensor:
		err.Reason = "is a whole number beyond 2^53, which would be rounded; store the numbers as double"
	case f.Reason == Inexact:
		err.Err = data.ErrRounded
	}
	return err
}

// check makes sure that the file delivered what the field needs.
func (v *Values) check(f Field, rows int) error {
	n := len(v.Numbers)
	switch {
	case f.Kind == Text && v.Text != nil:
		n = len(v.Text)
	case f.Kind == Text:
		n = len(v.Codes)
	case f.Kind == Tensor:
		n, _ = v.Tensor.Dims()
	}
	if n != rows {
		return fmt.Errorf("%d values for %d rows: the file is damaged", n, rows)
	}
	return nil
}

const (
	whyMissing = "marks a missing value; fill it in, or leave such rows out"
	whyInf     = "is not a finite number; correct it or remove the row"
	whyUTF8    = "is not UTF-8; convert the file first"
)

// fault returns the first cell at fault. It calls missing for the missing cells before it;
// one for which that is false is the cell at fault.
func (v *Values) fault(f Field, missing func(int) bool) *Fault {
	end := math.MaxInt
	if v.Fault != nil {
		end = v.Fault.Row
	}
	switch {
	case f.Kind == Number:
		numbers := v.Numbers[:min(end, len(v.Numbers))]
		if v.finite || allFinite(numbers) {
			break
		}
		for i, x := range numbers {
			if x-x == 0 || math.IsNaN(x) && missing(i) {
				continue
			}
			return numberFault(i, x)
		}
	case f.Kind == Tensor:
		rows, _ := v.Tensor.Dims()
		for i := range min(end, rows) {
			for k, x := range v.Tensor.RawRowView(i) {
				if x-x == 0 || math.IsNaN(x) && missing(i) {
					continue
				}
				fault := numberFault(i, x)
				fault.Reason = fmt.Sprintf("at %v ", indexOf(k, f.Shape)) + fault.Reason
				return fault
			}
		}
	case v.Text != nil:
		for i, x := range v.Text[:min(end, len(v.Text))] {
			switch {
			case x == nil && !missing(i):
				return missingFault(i, "null")
			case !utf8.Valid(x):
				return &Fault{Row: i, Cell: string(x), Reason: whyUTF8}
			}
		}
	default:
		valid := make([]bool, len(v.Levels)) // known to be UTF-8
		for i, k := range v.Codes[:min(end, len(v.Codes))] {
			switch {
			case k < 0 && missing(i):
			case k < 0:
				return missingFault(i, "null")
			case int(k) >= len(v.Levels):
				return &Fault{Row: i, Cell: strconv.Itoa(int(k)), Reason: fmt.Sprintf("is a position beyond the %d levels of the column: the file is damaged", len(v.Levels))}
			case valid[k]:
			case !utf8.ValidString(v.Levels[k]):
				return &Fault{Row: i, Cell: v.Levels[k], Reason: whyUTF8}
			default:
				valid[k] = true
			}
		}
	}
	return v.Fault
}

// allFinite is the check that nearly all columns pass.
func allFinite(v []float64) bool {
	_, _, finite := kernel.Bounds(v)
	return finite
}

func missingFault(row int, cell string) *Fault {
	return &Fault{Row: row, Cell: cell, Reason: whyMissing, missing: true}
}

func numberFault(row int, x float64) *Fault {
	switch {
	case math.Float64bits(x) == math.Float64bits(Null):
		return missingFault(row, "null")
	case math.IsNaN(x):
		return missingFault(row, "NaN")
	}
	return &Fault{Row: row, Cell: strconv.FormatFloat(x, 'g', -1, 64), Reason: whyInf}
}

// take keeps the given rows only, in place; nil keeps all.
func (v *Values) take(keep []int) {
	if keep == nil {
		return
	}
	v.Numbers = pick(v.Numbers, keep)
	v.Text = pick(v.Text, keep)
	v.Digits = pick(v.Digits, keep)
	v.Codes = pick(v.Codes, keep)
	if v.Tensor != nil && len(keep) > 0 {
		_, w := v.Tensor.Dims()
		for i, k := range keep {
			copy(v.Tensor.RawRowView(i), v.Tensor.RawRowView(k))
		}
		v.Tensor = v.Tensor.Slice(0, len(keep), 0, w).(*mat.Dense)
	}
}

func pick[T any](v []T, keep []int) []T {
	if v == nil {
		return nil
	}
	for i, k := range keep {
		v[i] = v[k]
	}
	return v[:len(keep):len(keep)]
}

package arrow

import (
	"context"
	"iter"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/internal/columnar"
)

// Blocks decodes the messages in order.
func (t *table) Blocks(ctx context.Context, fields []int, rows int, first, next int64) iter.Seq2[*columnar.Block, error] {
	return func(yield func(*columnar.Block, error) bool) {
		f, err := t.Input.Open(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		p := t.newPass(ctx, f, fields, rows)
		p.yield = yield
		defer p.close()
		begin := int64(0)
		for _, m := range t.messages {
			from, to := max(first-begin, 0), min(next-begin, m.rows)
			begin += m.rows
			if m.rows > 0 && from >= to {
				continue
			}
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !p.message(m, from, to) {
				return
			}
		}
		p.flush()
	}
}

// pass decodes some columns, several of a record batch or of a few small ones at a time.
type pass struct {
	*table
	ctx          context.Context
	r            data.File
	fields       []int
	rows         int // of a block at most
	stride       int // rows decoded at a time
	budget       *columnar.Budget
	inflaters    []inflater // of the goroutines
	dictionaries map[int64]*dictionary
	yield        func(*columnar.Block, error) bool

	parts []part            // to be decoded next
	held  int               // rows of them
	bytes int64             // of their record batches in the file
	last  []columnar.Values // of the parts decoded last, by part and field, if their memory is to be used again
}

// part is rows of a record batch, none of which has two parts that are decoded at a time.
type part struct {
	columns []*column
	row     int64
	n       int
}

// manyBytes is how large record batches that are decoded together may be in the file, and shareOfMemory
// the part of the memory that they may then take there: they may be compressed.
const manyBytes, shareOfMemory = 32 << 20, 8

func (t *table) newPass(ctx context.Context, r data.File, fields []int, rows int) *pass {
	p := &pass{table: t, ctx: ctx, r: r, fields: fields, rows: rows, dictionaries: map[int64]*dictionary{}, budget: &columnar.Budget{Limit: t.memory}}
	for _, i := range fields {
		if v := t.nodes[i]; v.index > 0 {
			p.dictionaries[v.id] = &dictionary{node: v}
		}
	}
	p.inflaters = make([]inflater, min(t.workers, max(1, len(fields))))
	numbers := 0
	for _, i := range fields {
		numbers += max(1, t.fields[i].Width)
	}
	p.stride = columnar.Stride(rows, numbers, len(p.inflaters))
	return p
}

func (p *pass) close() {
	for i := range p.inflaters {
		p.inflaters[i].close()
	}
}

// message reads a dictionary, or takes rows of a record batch. It reports whether to go on.
func (p *pass) message(m message, from, to int64) bool {
	first := int(min(to-from, int64(p.stride)))
	if full := p.held+first > p.stride || p.bytes+m.size > min(manyBytes, p.memory/shareOfMemory); (full || m.rows == 0) && !p.flush() {
		return false // a dictionary changes what is flushed before it
	}
	if len(p.parts) == 0 {
		p.forget()
	}
	columns, err := p.read(m)
	if err != nil {
		if p.flush() {
			p.yield(nil, err)
		}
		return false
	}
	for row := from; columns != nil && row < to; {
		n := int(min(to-row, int64(p.stride)))
		if p.held+n > p.stride && !p.flush() {
			return false
		}
		p.parts = append(p.parts, part{columns, row, n})
		p.held += n
		row += int64(n)
	}
	p.bytes += m.size
	return true
}

// forget gives back the memory of record batches, but for what goroutines keep.
func (p *pass) forget() {
	p.budget.Reset()
	for i := range p.inflaters {
		p.budget.Take(int64(len(p.inflaters[i].packed)))
	}
}

// read reads a dictionary, or finds the columns of a record batch.
func (p *pass) read(m message) (columns []*column, err error) {
	meta := root(m.meta)
	version, head := meta.int(0, 2, 0), meta.table(2)
	var b *batch
	err = columnar.Guard(p.Name(), "", func() (err error) {
		if meta.int(1, 1, 0) != headRecordBatch {
			return p.dictionary(m, meta, head, version)
		}
		b, err = newBatch(p.r, m, head, version, p.budget)
		return err
	})
	if b == nil || err != nil {
		return nil, err
	}
	return p.columns(b)
}

// dictionary reads a dictionary, unless no requested column has it.
func (p *pass) dictionary(m message, meta, head flat, version int64) error {
	d := p.dictionaries[head.int(0, 8, 0)]
	if d == nil {
		return meta.err()
	}
	b, err := newBatch(p.r, m, head.table(1), version, p.budget)
	if err != nil {
		return err
	}
	return d.read(b, &p.inflaters[0], head.int(2, 1, 0) != 0)
}

// columns finds the requested columns of a record batch.
func (p *pass) columns(b *batch) ([]*column, error) {
	columns := make([]*column, len(p.fields))
	at := 0
	for j, field := range p.fields {
		for ; at < field; at++ {
			b.skip(p.nodes[at])
		}
		err := columnar.Guard(p.Name(), p.table.fields[field].Name, func() (err error) {
			columns[j], err = b.column(p.nodes[at])
			return err
		})
		if err != nil {
			return nil, err
		}
		at++
	}
	return columns, nil
}

// flush decodes and yields the rows that were taken. It reports whether to go on.
func (p *pass) flush() bool {
	parts := p.parts
	p.parts, p.held, p.bytes = nil, 0, 0
	blocks := make([]*columnar.Block, len(parts))
	values := make([]columnar.Values, len(parts)*len(p.fields))
	for k := range values[:min(len(p.last), len(values))] {
		values[k].After(&p.last[k])
	}
	if p.reuse {
		p.last = values
	}
	for i := range parts {
		blocks[i] = &columnar.Block{Rows: parts[i].n, Values: values[i*len(p.fields):][:len(p.fields)]}
	}
	faults := make([]error, len(parts)*len(p.fields))
	_ = columnar.Parallel(len(p.inflaters), len(faults), func(worker, k int) error {
		i, j := k/len(p.fields), k%len(p.fields)
		faults[k] = columnar.Guard(p.Name(), p.table.fields[p.fields[j]].Name, func() error {
			return parts[i].read(j, &p.inflaters[worker], p.dictionaries, &blocks[i].Values[j])
		})
		return faults[k]
	})
	for i, block := range blocks {
		for _, err := range faults[i*len(p.fields) : (i+1)*len(p.fields)] {
			if err != nil {
				p.yield(nil, err)
				return false
			}
		}
		if !p.cut(block) {
			return false
		}
	}
	return true
}

// cut yields a block in blocks of as many rows as are wanted, and reports whether to go on.
func (p *pass) cut(b *columnar.Block) bool {
	for from := 0; from < b.Rows; from += p.rows {
		if err := p.ctx.Err(); err != nil {
			p.yield(nil, err)
			return false
		}
		if !p.yield(b.Cut(from, min(from+p.rows, b.Rows)), nil) {
			return false
		}
	}
	return true
}

// read decodes the j-th column.
func (p *part) read(j int, z *inflater, dictionaries map[int64]*dictionary, v *columnar.Values) error {
	if err := p.columns[j].load(z); err != nil {
		return err
	}
	return p.columns[j].read(p.row, p.n, dictionaries, v)
}

package command

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/parquet"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/report"
)

// parquetContributions writes contributions.parquet in the last pass of a
// decomposition: the rows and columns of contributions.csv, and nulls for rows
// that the source left out.
//
// A row group is encoded and written as a whole, in a goroutine of its own, while
// the next one is gathered: the pass does not wait for it unless it falls behind
// by more than that.
type parquetContributions struct {
	out   io.Writer
	total func() int64     // as in report.NewContributions
	id    string           // column that names rows, the first; "": none
	w     *parquet.Writer  // nil: nothing is written yet
	parts []parquet.Column // the columns of parts
	first int64            // data row of the first row
	next  int64            // data row to be written next
	se    bool             // a column TERM.se after each term's, NaN where there is none

	blocks chan *contributionRows
	free   chan *contributionRows // blocks that were written, whose memory is used again
	done   chan struct{}          // closed when the last block is written
	failed atomic.Pointer[error]
}

// writerAhead bounds the bytes of the blocks that wait to be written (a single block may
// have more), and maxAhead their number.
const (
	writerAhead = 64 << 20
	maxAhead    = 1 << 10
)

// freeBlocks is about how many blocks there are besides those that wait: some are being
// filled, one is being written.
const freeBlocks = 4

func newParquetContributions(w io.Writer, total func() int64) *parquetContributions {
	return &parquetContributions{out: w, total: total, free: make(chan *contributionRows, maxAhead)}
}

// Columns is the one that names rows, if there is one.
func (c *parquetContributions) Columns() []string {
	if c.id == "" {
		return nil
	}
	return []string{c.id}
}

// Begin names the columns. The file begins with the first rows, which show what the column
// that names them holds.
func (c *parquetContributions) Begin(r *decompose.Result) error {
	names := c.names(r)
	c.w, c.next, c.parts = nil, c.first, make([]parquet.Column, len(names))
	for j, name := range names {
		c.parts[j].Name = name
	}
	return report.CheckID(c.id, names)
}

// open begins the file; id is how the column that names rows is stored.
func (c *parquetContributions) open(id parquet.Stored) (err error) {
	columns := c.parts
	if c.id != "" {
		columns = append([]parquet.Column{{Name: c.id, Stored: id}}, c.parts...)
	}
	c.w, err = parquet.NewBatchWriter(c.out, columns)
	return err
}

// names are the columns': those of contributions.csv.
func (c *parquetContributions) names(r *decompose.Result) []string {
	if c.se {
		return report.ContributionColumnsSE(r)
	}
	return report.ContributionColumns(r)
}

// start begins to write, with a queue for blocks of so many bytes.
func (c *parquetContributions) start(size int) {
	c.blocks, c.done = make(chan *contributionRows, min(max(1, writerAhead/max(size, 1)), maxAhead)), make(chan struct{})
	go func() {
		defer close(c.done)
		for b := range c.blocks {
			if c.failed.Load() != nil {
				continue
			}
			if err := c.write(b); err != nil {
				c.failed.Store(&err)
			}
			select {
			case c.free <- b:
			default:
			}
		}
	}()
}

// parquetMemory is what the writer holds of so many columns and rows (0: many): a
// row group gathered, its largest column encoded, and what waits.
func parquetMemory(columns, rows int64) int64 {
	group := min(int64(128<<10), (16<<20)/columns)
	if rows > 0 {
		group = min(group, rows)
	}
	return group*8*(columns+3) + min(writerAhead, max(rows, group)*8*columns)
}

// stop waits for the blocks handed in; afterwards none may be. Stopping again does
// nothing.
func (c *parquetContributions) stop() error {
	if c.blocks != nil {
		close(c.blocks)
		<-c.done
		c.blocks = nil
	}
	return c.err()
}

func (c *parquetContributions) err() error {
	if err := c.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// contributionRows are a block's rows by column.
type contributionRows struct {
	rows    []int64
	columns [][]float64
	used    int // of the columns
	id      rowNames
}

// column is the next column, of n rows.
func (b *contributionRows) column(n int) []float64 {
	if b.used == len(b.columns) {
		b.columns = append(b.columns, nil)
	}
	v := slices.Grow(b.columns[b.used][:0], n)[:n]
	b.columns[b.used] = v
	b.used++
	return v
}

// block is an empty block of n rows. Its memory is that of a block that was written, if
// there is one.
func (c *parquetContributions) block(n int) *contributionRows {
	b := new(contributionRows)
	select {
	case b = <-c.free:
	default:
	}
	b.rows, b.used = slices.Grow(b.rows[:0], n)[:n], 0
	return b
}

// Map arranges a block's parts by column.
func (c *parquetContributions) Map(p *decompose.Parts) (any, error) {
	n := p.Batch.Rows()
	b := c.block(n)
	for i := range b.rows {
		b.rows[i] = p.Batch.Row(i)
	}
	if c.id != "" {
		var err error
		if b.id, err = namesOf(p.Batch, c.id); err != nil {
			return nil, err
		}
	}
	for k := range p.Predictors {
		d := &p.Predictors[k]
		intercept := b.column(n)
		for i := range intercept {
			intercept[i] = d.Intercept
		}
		if !d.Terms.IsEmpty() {
			_, terms := d.Terms.Dims()
			columns := make([][]float64, terms)
			for j := range columns {
				columns[j] = b.column(n)
				if c.se {
					mat.Col(b.column(n), j, d.SE)
				}
			}
			arrange(columns, d.Terms.RawMatrix())
		}
		copy(b.column(n), d.Unstructured)
		copy(b.column(n), d.Eta)
	}
	return b, nil
}

// arrange copies the columns of m, eight rows at a time: so many share the lines of
// the cache that they are in.
func arrange(columns [][]float64, m blas64.General) {
	i := 0
	for ; i+8 <= m.Rows; i += 8 {
		for j, column := range columns {
			v, to := m.Data[i*m.Stride+j:][:7*m.Stride+1], column[i:][:8]
			to[0] = v[0]
			to[1] = v[m.Stride]
			to[2] = v[2*m.Stride]
			to[3] = v[3*m.Stride]
			to[4] = v[4*m.Stride]
			to[5] = v[5*m.Stride]
			to[6] = v[6*m.Stride]
			to[7] = v[7*m.Stride]
		}
	}
	for ; i < m.Rows; i++ {
		for j, column := range columns {
			column[i] = m.Data[i*m.Stride+j]
		}
	}
}

// Reduce hands a block on to be written.
func (c *parquetContributions) Reduce(part any) error {
	b, ok := part.(*contributionRows)
	if !ok {
		return fmt.Errorf("contributions: Reduce takes what Map returned, not %T", part)
	}
	if err := c.err(); err != nil {
		return err
	}
	if c.blocks == nil {
		c.start(8 * len(b.columns) * len(b.rows))
	}
	c.blocks <- b
	return nil
}

// write writes a block's rows, runs of consecutive ones at a time.
func (c *parquetContributions) write(b *contributionRows) error {
	if c.w == nil {
		stored := parquet.Double
		if b.id.codes != nil {
			stored = parquet.Text
		}
		if err := c.open(stored); err != nil {
			return err
		}
	}
	run := make([][]float64, len(b.columns))
	for i := 0; i < len(b.rows); {
		j := i + 1
		for j < len(b.rows) && b.rows[j] == b.rows[j-1]+1 {
			j++
		}
		if err := c.fill(b.rows[i]); err != nil {
			return err
		}
		for k, column := range b.columns {
			run[k] = column[i:j]
		}
		if err := c.writeRun(run, &b.id, i, j); err != nil {
			return err
		}
		c.next = b.rows[j-1] + 1
		i = j
	}
	return nil
}

// writeRun writes rows i to j-1 of a block, whose parts are run, with their names.
func (c *parquetContributions) writeRun(run [][]float64, id *rowNames, i, j int) error {
	if c.id == "" {
		return c.w.Write(run)
	}
	b := data.NewBatch(j-i, 0)
	if err := id.set(b, c.id, i, j); err != nil {
		return err
	}
	for k, v := range run {
		if err := b.SetNumeric(c.parts[k].Name, v); err != nil {
			return err
		}
	}
	return c.w.WriteBatch(b)
}

// rowNames is the column that names the rows of a block: codes, or numbers.
type rowNames struct {
	codes   *data.Codes
	numbers []float64
}

// namesOf is the column of a batch; its memory is the batch's.
func namesOf(b *data.Batch, column string) (n rowNames, err error) {
	if b.Categorical(column) {
		codes, err := b.Codes(column)
		return rowNames{codes: &codes}, err
	}
	n.numbers, err = b.Numeric(column)
	return n, err
}

// set gives b the names i to j-1. Its levels are those alone: of all rows they would be many.
func (n *rowNames) set(b *data.Batch, column string, i, j int) error {
	if n.codes == nil {
		return b.SetNumeric(column, n.numbers[i:j])
	}
	own := data.Codes{Index: make([]int32, j-i), Levels: make([]string, j-i)}
	for k, code := range n.codes.Index[i:j] {
		own.Index[k], own.Levels[k] = int32(k), n.codes.Levels[code]
	}
	return b.SetCodes(column, own)
}

// fill writes nulls up to the given row.
func (c *parquetContributions) fill(row int64) error {
	if row < c.next {
		return fmt.Errorf("contributions: data row %d came after row %d", row+1, c.next)
	}
	n := row - c.next
	c.next = row
	return c.w.WriteNull(n)
}

// End writes the rows left out at the end and the file's end; it does not close
// the writer.
func (c *parquetContributions) End(*decompose.Result) error {
	if err := c.stop(); err != nil {
		return err
	}
	if c.w == nil {
		if err := c.open(parquet.Text); err != nil {
			return err
		}
	}
	if c.total != nil {
		if err := c.fill(max(c.next, c.total())); err != nil {
			return err
		}
	}
	return c.w.Close()
}

// writeParquet writes the contributions of new rows, as report.Contributions
// does in CSV: of the data rows from first on, up to the one that end tells.
func writeParquet(ctx context.Context, w io.Writer, a *decompose.Applier, src data.Source, first int64, end func() int64, id string) error {
	c := newParquetContributions(w, end)
	c.first, c.id, c.se = first, id, a.HasErrors()
	defer func() { _ = c.stop() }()
	return a.Visit(ctx, src, c)
}

package main

import (
	"fmt"
	"io"

	"github.com/pho-go/pho/data/parquet"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/report"
)

// parquetContributions writes contributions.parquet in the last pass of a
// decomposition: the rows and columns of contributions.csv, and nulls for rows
// that the source left out.
type parquetContributions struct {
	out   io.Writer
	total func() int64 // as in report.NewContributions
	w     *parquet.Writer
	next  int64 // data row to be written next
}

func newParquetContributions(w io.Writer, total func() int64) *parquetContributions {
	return &parquetContributions{out: w, total: total}
}

// Columns is empty: the parts are all that is written.
func (c *parquetContributions) Columns() []string { return nil }

// Begin writes the file's beginning.
func (c *parquetContributions) Begin(r *decompose.Result) (err error) {
	c.next = 0
	c.w, err = parquet.NewWriter(c.out, report.ContributionColumns(r))
	return err
}

// contributionRows are a block's rows by column.
type contributionRows struct {
	rows    []int64
	columns [][]float64
}

// Map arranges a block's parts by column.
func (c *parquetContributions) Map(p *decompose.Parts) (any, error) {
	n := p.Batch.Rows()
	b := &contributionRows{rows: make([]int64, n)}
	for i := range n {
		b.rows[i] = p.Batch.Row(i)
	}
	for k := range p.Predictors {
		d := &p.Predictors[k]
		intercept := make([]float64, n)
		for i := range intercept {
			intercept[i] = d.Intercept
		}
		b.columns = append(b.columns, intercept)
		if !d.Terms.IsEmpty() {
			_, terms := d.Terms.Dims()
			for j := range terms {
				column := make([]float64, n)
				for i := range column {
					column[i] = d.Terms.At(i, j)
				}
				b.columns = append(b.columns, column)
			}
		}
		// The parts belong to the block that is being split: they are copied.
		b.columns = append(b.columns, append([]float64(nil), d.Unstructured...), append([]float64(nil), d.Eta...))
	}
	return b, nil
}

// Reduce writes a block's rows, runs of consecutive ones at a time.
func (c *parquetContributions) Reduce(part any) error {
	b, ok := part.(*contributionRows)
	if !ok {
		return fmt.Errorf("contributions: Reduce takes what Map returned, not %T", part)
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
		if err := c.w.Write(run); err != nil {
			return err
		}
		c.next = b.rows[j-1] + 1
		i = j
	}
	return nil
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
	if c.total != nil {
		if err := c.fill(max(c.next, c.total())); err != nil {
			return err
		}
	}
	return c.w.Close()
}

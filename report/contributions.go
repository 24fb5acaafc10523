package report

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/decimal"
)

// Contributions writes contributions.csv in the last pass of a decomposition, as one of its
// visitors: one line for each data row, in order, with the columns of ContributionColumns.
// Numbers have all their digits, so that the parts add up to eta as closely as those of
// decompose.Parts do. Rows that the source left out get empty cells.
type Contributions struct {
	out    *bufio.Writer
	total  func() int64
	id     string      // column that names rows; "": none
	first  int64       // data row that the first line is for
	plain  bool        // no header
	next   int64       // data row that the next line is for
	se     bool        // a column of standard errors after each term's
	header []byte      // until it is written
	empty  string      // a line of empty cells
	free   chan []byte // memory of lines that were written
}

// freeLines is how many chunks' memory is kept to be used again: about as many as are at work.
const freeLines = 16

// NewContributions returns a visitor that writes to w. total is asked after the last row
// how many rows the data have, those left out included; nil: rows that were left out at the
// end get no lines.
func NewContributions(w io.Writer, total func() int64) *Contributions {
	return &Contributions{out: bufio.NewWriterSize(w, 1<<16), total: total, free: make(chan []byte, freeLines)}
}

// WithID makes a data column, of text or numbers, the first column; "" writes none. It returns
// c.
func (c *Contributions) WithID(column string) *Contributions {
	c.id = column
	return c
}

// From makes c write the lines of a shard: of the data rows from first on, with or without the
// header, so that those of shards one behind the other are the lines of all rows. total is then the
// number of the row behind the shard's last. It returns c.
func (c *Contributions) From(first int64, header bool) *Contributions {
	c.first, c.plain = first, !header
	return c
}

// Columns is the one that names rows, if there is one: else the parts are all that is written.
func (c *Contributions) Columns() []string {
	if c.id == "" {
		return nil
	}
	return []string{c.id}
}

// Begin makes the header, which is written before the first line: a pass that fails before
// that writes nothing.
func (c *Contributions) Begin(r *decompose.Result) error {
	header := contributionColumns(r, c.se)
	if err := CheckID(c.id, header); err != nil {
		return err
	}
	header = append(c.Columns(), header...)
	c.empty = strings.Repeat(",", max(len(header)-1, 0)) + "\n"
	c.next = c.first
	if c.plain {
		return nil
	}
	var b bytes.Buffer
	h := csv.NewWriter(&b)
	h.Write(header) // the error stays with h
	h.Flush()
	c.header = b.Bytes()
	return c.wrap(h.Error())
}

// CheckID refuses a column that names rows and is called like another one of contributions.
func CheckID(id string, columns []string) error {
	if id == "" || !slices.Contains(columns, id) {
		return nil
	}
	return fmt.Errorf("report: the column %q, which is to name rows, is called like one of the contributions: give it another name in the data", id)
}

// begin writes the header if it is not written yet.
func (c *Contributions) begin() error {
	_, err := c.out.Write(c.header)
	c.header = nil
	return c.wrap(err)
}

// ContributionColumns names the columns of contributions in order: for each predictor
// intercept, one for each term (its name), unstructured and eta; with the predictor's name
// and a dot before them if there are several predictors.
func ContributionColumns(r *decompose.Result) []string { return contributionColumns(r, false) }

// ContributionColumnsSE are these names with TERM.se behind each term's, its standard error.
func ContributionColumnsSE(r *decompose.Result) []string { return contributionColumns(r, true) }

func contributionColumns(r *decompose.Result, se bool) []string {
	var header []string
	for _, d := range r.Predictors {
		prefix := ""
		if len(r.Predictors) > 1 {
			prefix = d.Name + "."
		}
		header = append(header, prefix+"intercept")
		for _, t := range d.Terms {
			header = append(header, prefix+t.Name)
			if se {
				header = append(header, prefix+t.Name+".se")
			}
		}
		header = append(header, prefix+"unstructured", prefix+"eta")
	}
	return header
}

// lines are the lines of a chunk, gaps inside it filled.
type lines struct {
	first, next int64
	text        []byte
}

// Map formats a chunk's lines.
func (c *Contributions) Map(p *decompose.Parts) (any, error) {
	n := p.Batch.Rows()
	if n == 0 {
		return &lines{}, nil
	}
	l := &lines{first: p.Batch.Row(0), next: p.Batch.Row(0)}
	select {
	case l.text = <-c.free:
	default:
	}
	var id func(i int) string
	if c.id != "" {
		var err error
		if id, err = p.Batch.Texts(c.id); err != nil {
			return nil, c.wrap(err)
		}
	}
	var cells decimal.Cells
	for i := range n {
		if l.next < p.Batch.Row(i) {
			l.text = cells.AppendTo(l.text)
		}
		for ; l.next < p.Batch.Row(i); l.next++ {
			l.text = append(l.text, c.empty...)
		}
		if id != nil {
			l.text = append(data.AppendCell(cells.AppendTo(l.text), id(i)), ',')
		}
		l.text = appendRow(l.text, p, i, &cells)
		l.next++
	}
	l.text = cells.AppendTo(l.text)
	return l, nil
}

// appendRow appends the line of row i to text and the cells that wait.
func appendRow(text []byte, p *decompose.Parts, i int, cells *decimal.Cells) []byte {
	for k := range p.Predictors {
		d := &p.Predictors[k]
		cells.Add(d.Intercept)
		var se []float64
		if d.SE != nil {
			se = d.SE.RawRowView(i)
		}
		for j, v := range d.Row(i) {
			cells.Add(v)
			switch {
			case se == nil:
			case math.IsNaN(se[j]):
				text = append(cells.AppendTo(text), ',')
			default:
				cells.Add(se[j])
			}
		}
		cells.Add(d.Unstructured[i])
		cells.Add(d.Eta[i])
	}
	return cells.EndLine(text)
}

// Reduce writes a chunk's lines.
func (c *Contributions) Reduce(part any) error {
	l, ok := part.(*lines)
	if !ok {
		return fmt.Errorf("report: Reduce takes what Map returned, not %T", part)
	}
	if l.text == nil {
		return nil
	}
	if l.first < c.next {
		return fmt.Errorf("report: data row %d came after row %d", l.first+1, c.next)
	}
	if err := c.begin(); err != nil {
		return err
	}
	if err := c.fill(l.first); err != nil {
		return err
	}
	c.next = l.next
	_, err := c.out.Write(l.text)
	select {
	case c.free <- l.text[:0]:
	default:
	}
	return c.wrap(err)
}

// fill writes empty lines up to the given row.
func (c *Contributions) fill(row int64) error {
	for ; c.next < row; c.next++ {
		if _, err := c.out.WriteString(c.empty); err != nil {
			return c.wrap(err)
		}
	}
	return nil
}

// End writes the header of a table without rows, completes the lines of rows left out at the end and flushes; it does not
// close the writer.
func (c *Contributions) End(*decompose.Result) error {
	if err := c.begin(); err != nil {
		return err
	}
	if c.total != nil {
		if err := c.fill(c.total()); err != nil {
			return err
		}
	}
	return c.wrap(c.out.Flush())
}

func (c *Contributions) wrap(err error) error {
	if err != nil {
		return fmt.Errorf("report: writing contributions: %w", err)
	}
	return nil
}

// Apply writes new rows: src split by a, an applier of the result, with the training rows' coefficients and
// centring. If a has errors, a column TERM.se follows each term's, empty where there is none.
func (c *Contributions) Apply(ctx context.Context, a *decompose.Applier, src data.Source) error {
	c.se = a.HasErrors()
	return a.Visit(ctx, src, c)
}

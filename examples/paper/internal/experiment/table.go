package experiment

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Table is a result: a header and rows of strings, integers and numbers. NaN is an
// empty cell.
type Table struct {
	Header []string
	Rows   [][]any
}

// NewTable returns a table without rows.
func NewTable(header ...string) *Table { return &Table{Header: header} }

// Add appends a row.
func (t *Table) Add(cells ...any) { t.Rows = append(t.Rows, cells) }

// cell formats with at most digits significant ones.
func cell(v any, digits int) string {
	switch v := v.(type) {
	case float64:
		if math.IsNaN(v) {
			return ""
		}
		return strconv.FormatFloat(v, 'g', digits, 64)
	default:
		return fmt.Sprint(v)
	}
}

// WriteCSV writes the table as a file of the results, numbers with six digits.
func (e *Experiment) WriteCSV(name string, t *Table) error {
	return e.WriteFile(name, func(w io.Writer) error {
		c := csv.NewWriter(w)
		if err := c.Write(t.Header); err != nil {
			return err
		}
		for i, row := range t.Rows {
			if len(row) != len(t.Header) {
				return fmt.Errorf("%s: row %d has %d cells, the header %d", name, i, len(row), len(t.Header))
			}
			record := make([]string, len(row))
			for j, v := range row {
				record[j] = cell(v, 6)
			}
			if err := c.Write(record); err != nil {
				return err
			}
		}
		c.Flush()
		return c.Error()
	})
}

// WriteMarkdown writes the table as a file of the results, numbers with three
// digits, and shows it.
func (e *Experiment) WriteMarkdown(name string, t *Table) error {
	text := t.Markdown(3)
	if e.Log != nil {
		fmt.Fprint(e.Log, text)
	}
	return e.WriteFile(name, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// Markdown is the table in Markdown, columns aligned: text left, numbers right.
func (t *Table) Markdown(digits int) string {
	text := [][]string{t.Header}
	for _, row := range t.Rows {
		record := make([]string, len(row))
		for j, v := range row {
			record[j] = strings.ReplaceAll(plain(v, digits), "|", `\|`)
		}
		text = append(text, record)
	}
	width, number := make([]int, len(t.Header)), make([]bool, len(t.Header))
	for j := range t.Header {
		for _, record := range text {
			width[j] = max(width[j], len([]rune(record[j])), 3)
		}
		for _, row := range t.Rows {
			_, isText := row[j].(string)
			number[j] = !isText
		}
	}
	var b strings.Builder
	line := func(record []string) {
		for j, s := range record {
			pad := strings.Repeat(" ", width[j]-len([]rune(s)))
			if number[j] {
				b.WriteString("| " + pad + s + " ")
			} else {
				b.WriteString("| " + s + pad + " ")
			}
		}
		b.WriteString("|\n")
	}
	line(text[0])
	for j := range t.Header {
		rule := strings.Repeat("-", width[j])
		if number[j] {
			rule = rule[1:] + ":"
		}
		b.WriteString("| " + rule + " ")
	}
	b.WriteString("|\n")
	for _, record := range text[1:] {
		line(record)
	}
	return b.String()
}

// plain formats without an exponent where that is readable.
func plain(v any, digits int) string {
	x, ok := v.(float64)
	if !ok || math.IsNaN(x) || x == 0 || math.Abs(x) < 1e-4 || math.Abs(x) >= 1e6 {
		return cell(v, digits)
	}
	after := max(0, digits-1-int(math.Floor(math.Log10(math.Abs(x)))))
	return strconv.FormatFloat(x, 'f', after, 64)
}

package data

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/pho-go/pho/internal/base/decimal"
)

// WriteCSV writes the named columns of batches to w: a line of names and a line for each row,
// in order, with commas between cells and \n behind them. Numbers have as many digits as they
// need to be read back as they are, NaN is NaN; of columns that hold categories the level is
// written. So many workers (below 1: one) form lines, of a batch each, and end before WriteCSV
// does; what is written does not depend on their number.
//
// Errors: of seq, of w, and a column that a batch does not hold.
func WriteCSV(w io.Writer, seq iter.Seq2[*Batch, error], columns []string, workers int) error {
	if len(columns) == 0 {
		return errors.New("data: writing CSV: there are no columns")
	}
	var header []byte
	for _, name := range columns {
		header = append(AppendCell(header, name), ',')
	}
	header[len(header)-1] = '\n'
	if err := writeText(w, header); err != nil {
		return err
	}
	const ahead = 2 // batches for each worker
	n := ahead * max(1, workers)
	free, todo, inOrder := make(chan *lines, n), make(chan *lines, n), make(chan *lines, n)
	for range n {
		free <- new(lines)
	}
	var others sync.WaitGroup
	for range max(1, workers) {
		others.Go(func() {
			for l := range todo {
				l.text, l.err = appendRows(l.text[:0], l.batch, columns)
				close(l.done)
			}
		})
	}
	var failed atomic.Pointer[error]
	others.Go(func() {
		for l := range inOrder {
			if <-l.done; failed.Load() == nil {
				if l.err == nil {
					l.err = writeText(w, l.text)
				}
				if l.err != nil {
					failed.Store(&l.err)
				}
			}
			free <- l
		}
	})
	var err error
	for b, broken := range seq {
		if err = broken; err != nil {
			break
		}
		l := <-free
		if failed.Load() != nil {
			break
		}
		l.batch, l.done = b, make(chan struct{})
		todo <- l
		inOrder <- l
	}
	close(todo)
	close(inOrder)
	others.Wait()
	if first := failed.Load(); first != nil {
		return *first
	}
	return err
}

// lines are the lines of a batch.
type lines struct {
	batch *Batch
	text  []byte
	err   error
	done  chan struct{} // closed when they are formed
}

func writeText(w io.Writer, text []byte) error {
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("data: writing CSV: %w", err)
	}
	return nil
}

// appendRows appends the lines of a batch.
func appendRows(text []byte, b *Batch, columns []string) ([]byte, error) {
	numbers, levels := make([][]float64, len(columns)), make([]Codes, len(columns))
	for j, name := range columns {
		var err error
		if b.Categorical(name) {
			levels[j], err = b.Codes(name)
		} else {
			numbers[j], err = b.Numeric(name)
		}
		if err != nil {
			return text, err
		}
	}
	var cells decimal.Cells
	for i := range b.Rows() {
		for j, v := range numbers {
			if v != nil {
				cells.Add(v[i])
				continue
			}
			text = append(AppendCell(cells.AppendTo(text), levels[j].Levels[levels[j].Index[i]]), ',')
		}
		text = cells.EndLine(text)
	}
	return cells.AppendTo(text), nil
}

// AppendCell appends a cell of text as CSV has it, in quotes where it needs them.
func AppendCell(text []byte, cell string) []byte {
	if !strings.ContainsAny(cell, ",\"\r\n") && strings.TrimSpace(cell) == cell {
		return append(text, cell...)
	}
	text = append(append(text, '"'), strings.ReplaceAll(cell, `"`, `""`)...)
	return append(text, '"')
}

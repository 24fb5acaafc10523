package data

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWriteCSVReadsBack: reading WriteCSV's output gives the batches back, to the bit, for
// any number of workers.
func TestWriteCSVReadsBack(t *testing.T) {
	const rows = 5000
	r := rand.New(rand.NewPCG(1, 2))
	table := NewTable(rows)
	x, whole, names := make([]float64, rows), make([]float64, rows), make([]string, rows)
	for i := range rows {
		x[i], whole[i] = math.Ldexp(r.NormFloat64(), r.IntN(200)-100), float64(r.IntN(1e9))
		names[i] = []string{"a", "b,c", `d "e"`, "two\nlines", "ä"}[r.IntN(5)]
	}
	check(t, table.AddNumeric("x", x))
	check(t, table.AddNumeric("whole, all", whole))
	check(t, table.AddTexts("name", names))
	check(t, table.AddNumeric("last", x))
	columns := table.Schema().Names()
	var first []byte
	for workers := range 4 {
		var out bytes.Buffer
		check(t, WriteCSV(&out, Rebatch(table.Batches(context.Background(), columns), 700), columns, workers))
		if workers == 0 {
			first = out.Bytes()
		} else if !bytes.Equal(first, out.Bytes()) {
			t.Errorf("%d workers write other bytes", workers)
		}
	}
	c, err := OpenCSV([]string{"-"}, &CSVOptions{Stdin: bytes.NewReader(first)})
	check(t, err)
	defer c.Close()
	if d := cmp.Diff(all(table).uncut(), all(c).uncut()); d != "" {
		t.Error(d)
	}
}

// full is a disk that is full behind some writes.
type full int

func (f *full) Write(p []byte) (int, error) {
	if *f--; *f < 0 {
		return 0, errors.New("the disk is full")
	}
	return len(p), nil
}

// TestWriteCSVErrors: of the writer, the rows and the columns.
func TestWriteCSVErrors(t *testing.T) {
	table := NewTable(100)
	check(t, table.AddNumeric("x", make([]float64, 100)))
	rows := func() iter.Seq2[*Batch, error] { return Rebatch(table.Batches(context.Background(), []string{"x"}), 7) }
	broken := func(yield func(*Batch, error) bool) {
		for b, err := range rows() {
			if !yield(b, err) {
				return
			}
		}
		yield(nil, errors.New("the rows end"))
	}
	few, many := full(3), full(100)
	for want, got := range map[string]error{
		"data: writing CSV: the disk is full":     WriteCSV(&few, rows(), []string{"x"}, 2),
		"the rows end":                            WriteCSV(&many, broken, []string{"x"}, 2),
		`data: no column "y" in this batch`:       WriteCSV(&many, rows(), []string{"y"}, 2),
		"data: writing CSV: there are no columns": WriteCSV(&many, rows(), nil, 1),
	} {
		if !strings.Contains(message(got), want) {
			t.Errorf("got %v, want %s", got, want)
		}
	}
}

package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/pho-go/pho/data"
)

// TestCodes reads codes as they were written, in runs and groups of any kind.
func TestCodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(0, 32).Draw(t, "width")
		code := rapid.Uint32Max(uint32(1<<width - 1))
		var want []uint32
		for range rapid.IntRange(0, 20).Draw(t, "parts") {
			if rapid.Bool().Draw(t, "run") {
				want = append(want, slices.Repeat([]uint32{code.Draw(t, "value")}, rapid.IntRange(1, 60).Draw(t, "length"))...)
			} else {
				want = append(want, rapid.SliceOfN(code, 0, 40).Draw(t, "packed")...)
			}
		}
		h, err := newHybrid(appendCodes(nil, want, width), byte(width))
		if err != nil {
			t.Fatal(err)
		}
		got := make([]uint32, len(want))
		if err := h.read(got); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// flights is a batch of rows first to first+n-1 of a table of three columns, with
// levels that are new in every thousand rows.
func flights(t *testing.T, first, n int) *data.Batch {
	levels, local := []string{"", "JFK→LAX"}, map[string]int32{"": 0, "JFK→LAX": 1}
	minute, delay, route := make([]float64, n), make([]float64, n), make([]int32, n)
	for k := range n {
		i := first + k
		minute[k], delay[k] = float64(i*7%1440-720), math.Sin(float64(i))
		level := [...]string{"", "JFK→LAX", fmt.Sprint("route", i/1000), fmt.Sprint("route", i%5)}[i%4]
		code, ok := local[level]
		if !ok {
			code = int32(len(levels))
			local[level] = code
			levels = append(levels, level)
		}
		route[k] = code
	}
	b := data.NewBatch(n, int64(first))
	if err := errors.Join(b.SetNumeric("minute", minute), b.SetNumeric("delay", delay), b.SetCodes("route", data.Codes{Index: route, Levels: levels})); err != nil {
		t.Fatal(err)
	}
	return b
}

var flightColumns = []Column{{"minute", Int32}, {"delay", Double}, {"route", Text}}

func writeFlights(t *testing.T, rows, step int) []byte {
	var out bytes.Buffer
	w, err := NewBatchWriter(&out, flightColumns)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < rows; i += step {
		if err := w.WriteBatch(flights(t, i, min(step, rows-i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestWriteBatch writes more than a row group in cuts of two kinds and reads it
// back.
func TestWriteBatch(t *testing.T) {
	const rows = groupRows + 5000
	file := writeFlights(t, rows, rows)
	if !bytes.Equal(file, writeFlights(t, rows, 999)) {
		t.Error("the cuts show in the file")
	}
	path := filepath.Join(t.TempDir(), "f.parquet")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open([]string{path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, i := flights(t, 0, rows), 0
	for b, err := range s.Batches(context.Background(), s.Schema().Names()) {
		if err != nil {
			t.Fatal(err)
		}
		w := want.Slice(i, i+b.Rows())
		for _, name := range []string{"minute", "delay"} {
			got, err := b.Numeric(name)
			same, _ := w.Numeric(name)
			if err != nil || !slices.Equal(got, same) {
				t.Fatalf("%s differs after row %d: %v", name, i, err)
			}
		}
		got, err := b.Codes("route")
		if err != nil {
			t.Fatal(err)
		}
		same, _ := w.Codes("route")
		for k := range got.Index {
			if got.Levels[got.Index[k]] != same.Levels[same.Index[k]] {
				t.Fatalf("row %d: %q, want %q", i+k, got.Levels[got.Index[k]], same.Levels[same.Index[k]])
			}
		}
		i += b.Rows()
	}
	if i != rows {
		t.Fatal(i)
	}
}

// TestConstant writes columns that are the same number in all rows, all but one or
// the last row group, between rows that are null, and reads them back.
func TestConstant(t *testing.T) {
	const n = groupRows + 5000
	names := []string{"whole", "but one", "in the last group"}
	columns := make([][]float64, len(names))
	for j := range columns {
		columns[j] = slices.Repeat([]float64{-1.25}, n)
	}
	columns[1][n-1] = 3
	for i := range groupRows {
		columns[2][i] = math.Sin(float64(i))
	}
	write := func(columns [][]float64, step int) []byte {
		var out bytes.Buffer
		w, err := NewWriter(&out, names)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < n; i += step {
			j := min(n, i+step)
			if err := w.Write([][]float64{columns[0][i:j], columns[1][i:j], columns[2][i:j]}); err != nil {
				t.Fatal(err)
			}
			if j == pageRows {
				if err := w.WriteNull(pageRows + 7); err != nil { // a page without values
					t.Fatal(err)
				}
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	file := write(columns, pageRows)
	if !bytes.Equal(file, write(columns, 1024)) {
		t.Error("the cuts show in the file")
	}
	path := filepath.Join(t.TempDir(), "c.parquet")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open([]string{path}, &Options{NA: data.NADrop})
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for b, err := range s.Batches(context.Background(), names) {
		if err != nil {
			t.Fatal(err)
		}
		for j, name := range names {
			got, err := b.Numeric(name)
			if err != nil || !slices.Equal(got, columns[j][i:i+b.Rows()]) {
				t.Fatalf("%s differs after row %d: %v", name, i, err)
			}
		}
		i += b.Rows()
	}
	if total, dropped := s.Rows(); i != n || total != n+pageRows+7 || dropped != pageRows+7 {
		t.Fatal(i, total, dropped)
	}
	columns[0] = columns[2]
	if less := len(write(columns, n)) - len(file); less < 8*(groupRows-2*pageRows) {
		t.Errorf("a column of one number takes only %d bytes less than another", less)
	}
}

// TestConstantBits: numbers that compare as equal may have other bits.
func TestConstantBits(t *testing.T) {
	for _, v := range [][]float64{
		slices.Repeat([]float64{0, math.Copysign(0, -1)}, 50),
		slices.Repeat([]float64{math.NaN()}, 100),
		slices.Repeat([]float64{math.Copysign(0, -1)}, 100),
		slices.Repeat([]float64{2}, 3),
	} {
		var c columnBuffer
		c.double(v)
		c.foldConstant()
		one := len(v) >= 64 && math.Float64bits(v[0]) == math.Float64bits(v[1])
		if (c.count == 1) != one || one && (len(c.codes) != len(v) || !bytes.Equal(c.entries, c.doubles[:8])) {
			t.Errorf("%v, %v, ...: a dictionary of %d for %d rows", v[0], v[1], c.count, len(c.codes))
		}
	}
}

func TestWriteBatchBad(t *testing.T) {
	if _, err := NewBatchWriter(&bytes.Buffer{}, []Column{{"a", 9}}); err == nil || err.Error() != `data: column "a" should be stored in a way, 9, that is not known` {
		t.Error(err)
	}
	for _, c := range []struct {
		value float64
		want  string
	}{
		{0.5, `data: row 8, column "x": 0.5 is no whole number of 32 bits: store the column as double`},
		{1 << 31, `data: row 8, column "x": 2.147483648e+09 is no whole number of 32 bits: store the column as double`},
		{math.NaN(), `data: row 8, column "x": NaN is no whole number of 32 bits: store the column as double`},
	} {
		w, err := NewBatchWriter(&bytes.Buffer{}, []Column{{"x", Int32}})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write([][]float64{{1}}); err == nil || err.Error() != `data: column "x" is not stored as double: write batches` {
			t.Error(err)
		}
		b := data.NewBatch(2, 6)
		if err := b.SetNumeric("x", []float64{math.MinInt32, c.value}); err != nil {
			t.Fatal(err)
		}
		if err := w.WriteBatch(b); err == nil || err.Error() != c.want {
			t.Error(err)
		}
		if err := w.Close(); err == nil {
			t.Error("a file of half a batch is complete")
		}
	}
	w, err := NewBatchWriter(&bytes.Buffer{}, []Column{{"x", Text}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteBatch(data.NewBatch(1, 0)); err == nil || err.Error() != `data: no column "x" in this batch` {
		t.Error(err)
	}
}

// TestWrittenBatch compares with a file that pyarrow has read; see
// testdata/read_written.py.
func TestWrittenBatch(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("Snappy's encoder may cut otherwise on other machines")
	}
	var out bytes.Buffer
	w, err := NewBatchWriter(&out, flightColumns)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.WriteBatch(flights(t, 0, 2500)), w.WriteNull(3), w.WriteBatch(flights(t, 2500, 40)), w.Close()); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/written_batch.parquet")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), want) {
		path := filepath.Join(os.TempDir(), "written_batch.parquet")
		_ = os.WriteFile(path, out.Bytes(), 0o600)
		t.Errorf("other bytes than those that pyarrow has read: if that is meant, check %s with testdata/read_written.py and keep it", path)
	}
}

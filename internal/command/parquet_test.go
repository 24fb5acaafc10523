package command

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/parquet"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/report"
)

// TestParquetContributions compares contributions.parquet with contributions.csv
// on blocks with rows left out inside, between and at the end.
func TestParquetContributions(t *testing.T) {
	r := &decompose.Result{Predictors: make([]decompose.Predictor, 2)}
	r.Predictors[0].Name, r.Predictors[1].Name = "mu", "sigma"
	r.Predictors[0].Terms = make([]decompose.TermResult, 2)
	r.Predictors[0].Terms[0].Name, r.Predictors[0].Terms[1].Name = "x1", "s(x2)"
	total := func() int64 { return 12 }

	var asCSV, asParquet bytes.Buffer
	for _, v := range []decompose.Visitor{report.NewContributions(&asCSV, total), newParquetContributions(&asParquet, total)} {
		if err := v.Begin(r); err != nil {
			t.Fatal(err)
		}
		for _, rows := range [][]int64{{0, 1, 3}, {5, 6, 8}, {9}} {
			n := len(rows)
			b := data.NewBatch(n, rows[0])
			if err := b.SetRows(rows); err != nil {
				t.Fatal(err)
			}
			column := func(f float64) []float64 {
				v := make([]float64, n)
				for i, row := range rows {
					v[i] = math.Sin(f + float64(row))
				}
				return v
			}
			terms := mat.NewDense(n, 2, nil)
			terms.SetCol(0, column(1))
			terms.SetCol(1, column(2))
			part, err := v.Map(&decompose.Parts{Batch: b, Predictors: []decompose.PredictorParts{
				{Intercept: 0.5, Terms: terms, Unstructured: column(3), Eta: column(4)},
				{Intercept: -1, Terms: &mat.Dense{}, Unstructured: column(5), Eta: column(6)},
			}})
			if err != nil {
				t.Fatal(err)
			}
			if err := v.Reduce(part); err != nil {
				t.Fatal(err)
			}
		}
		if err := v.End(r); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	csv, err := data.OpenCSV([]string{write("c.csv", asCSV.Bytes())}, &data.CSVOptions{NA: data.NADrop})
	if err != nil {
		t.Fatal(err)
	}
	defer csv.Close()
	pq, err := parquet.Open([]string{write("c.parquet", asParquet.Bytes())}, &parquet.Options{NA: data.NADrop})
	if err != nil {
		t.Fatal(err)
	}
	want, got := numbersOf(t, csv), numbersOf(t, pq)
	if len(want) == 0 || len(want) != len(got) {
		t.Fatalf("%d values, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("value %d is %v, want %v", i, got[i], want[i])
		}
	}
	if n, dropped := pq.Rows(); n != 12 || dropped != 5 {
		t.Fatal(n, dropped)
	}
}

// TestArrange copies columns of any number of rows, whole eights of them or not.
func TestArrange(t *testing.T) {
	for _, n := range []int{1, 7, 8, 9, 31} {
		m := mat.NewDense(n, 5, nil)
		columns := make([][]float64, 5)
		for j := range columns {
			columns[j] = make([]float64, n)
			for i := range n {
				m.Set(i, j, float64(1+i*5+j))
			}
		}
		arrange(columns, m.RawMatrix())
		for j := range columns {
			if want := mat.Col(nil, j, m); !slices.Equal(columns[j], want) {
				t.Errorf("%d rows: column %d is %v, want %v", n, j, columns[j], want)
			}
		}
	}
}

// numbersOf is the rows of a source with their numbers, one after the other.
func numbersOf(t *testing.T, s data.Source) (values []float64) {
	t.Helper()
	names := s.Schema().Names()
	for b, err := range s.Batches(context.Background(), names) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Rows() {
			values = append(values, float64(b.Row(i)))
		}
		for _, name := range names {
			v, err := b.Numeric(name)
			if err != nil {
				t.Fatal(name, err)
			}
			values = append(values, v...)
		}
	}
	return values
}

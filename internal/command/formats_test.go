package command

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/parquet"
	"github.com/pho-go/pho/internal/app/resultdir"
)

// Contributions as Parquet have the numbers of those as CSV, and Parquet files are
// read like CSV files: what is written can be data again.
func TestParquetOutAndIn(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	place := func(name string) string { return filepath.Join(temp, name) }
	write(t, place("rows.csv"), rows(300))
	model := []string{"decompose", "--model", golden("blackbox"), "--input", "x=x0..x3", "--formula", `~ s(x2, bs="ps") + x1`}
	done(t, append(model, "--data", place("rows.csv"), "--out", place("csv"))...)
	done(t, append(model, "--data", place("rows.csv"), "--contributions", "parquet", "--out", place("parquet"))...)
	if _, err := os.Stat(place("parquet/" + resultdir.Contributions)); err == nil {
		t.Error("both formats were written")
	}
	text, err := data.OpenCSV([]string{place("csv/" + resultdir.Contributions)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	binary, err := parquet.Open([]string{place("parquet/" + resultdir.Parquet)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer binary.Close()
	want, got := whole(t, text), whole(t, binary)
	for _, name := range text.Schema().Names() {
		a, err := want.Numeric(name)
		if err != nil {
			t.Fatal(err)
		}
		b, err := got.Numeric(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range a {
			if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
				t.Fatalf("%s, row %d: %v as CSV, %v as Parquet", name, i, a[i], b[i])
			}
		}
	}

	// The same rows from a Parquet file give the same decomposition.
	file, err := os.Create(place("rows.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	src, err := data.OpenCSV([]string{place("rows.csv")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	names := []string{"x0", "x1", "x2", "x3"}
	w, err := parquet.NewWriter(file, names)
	if err != nil {
		t.Fatal(err)
	}
	columns := make([][]float64, len(names))
	b := whole(t, src)
	for j, name := range names {
		if columns[j], err = b.Numeric(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Write(columns); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	done(t, append(model, "--data", place("rows.parquet"), "--out", place("again"))...)
	if read(t, place("again"), resultdir.Contributions) != read(t, place("csv"), resultdir.Contributions) {
		t.Error("contributions of the same rows from Parquet differ")
	}
}

func whole(t *testing.T, src data.Source) *data.Batch {
	t.Helper()
	for b, err := range data.Rebatch(src.Batches(t.Context(), src.Schema().Names()), 1<<20) {
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	t.Fatal("no rows")
	return nil
}

package columnartest

import (
	"errors"
	"iter"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/internal/columnar"
)

// Rows is everything a sequence of batches tells, without the cuts. Codes
// become text: sources may number levels differently.
type Rows struct {
	Rows    []int64
	Numbers map[string][]uint64 // bits
	Text    map[string][]string
	Tensors map[string][]float64
	Err     string
}

// Read is what batches tell of the columns of schema.
func Read(seq iter.Seq2[*data.Batch, error], schema data.Schema) Rows {
	p := Rows{Numbers: map[string][]uint64{}, Text: map[string][]string{}, Tensors: map[string][]float64{}}
	for b, err := range seq {
		if err != nil {
			p.Err = err.Error()
			break
		}
		for i := range b.Rows() {
			p.Rows = append(p.Rows, b.Row(i))
		}
		for _, c := range schema {
			if v, err := b.Numeric(c.Name); err == nil {
				for _, x := range v {
					if math.IsNaN(x) {
						x = math.NaN() // of whatever bits
					}
					p.Numbers[c.Name] = append(p.Numbers[c.Name], math.Float64bits(x))
				}
			}
			if v, err := b.Codes(c.Name); err == nil {
				for _, k := range v.Index {
					p.Text[c.Name] = append(p.Text[c.Name], v.Levels[k])
				}
			}
			if m, err := b.Tensor(c.Name); err == nil {
				for i := range b.Rows() {
					p.Tensors[c.Name] = append(p.Tensors[c.Name], m.RawRowView(i)...)
				}
			}
		}
	}
	return p
}

// Counted is a source that counts the rows of its passes.
type Counted interface {
	data.Source
	Rows() (total, dropped int64)
}

// Open opens a file by a policy of missing cells, to be read in batches of so many rows, with numeric columns that are factors, too.
type Open func(path string, na data.NAPolicy, batchRows int, factors ...string) (Counted, error)

// Golden compares files of other programs, bit for bit, with what the CSV reader reads of the same cells: those of
// dir/KIND.csv with the files dir/KIND_*.* and dir/KIND.* that have one of the extensions, for a policy of missing cells
// and batches of several sizes. It returns how many files were compared.
func Golden(t *testing.T, dir, kind string, extensions []string, open Open) int {
	paths, err := filepath.Glob(filepath.Join(dir, kind+"[_.]*"))
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, na := range []data.NAPolicy{data.NADrop, data.NAKeep} {
		csv, err := data.OpenCSV([]string{filepath.Join(dir, kind+".csv")}, &data.CSVOptions{NA: na, Factors: []string{"x"}})
		if err != nil {
			t.Fatal(err)
		}
		want := Read(csv.Batches(t.Context(), csv.Schema().Names()), csv.Schema())
		total, dropped := csv.Rows()
		if want.Err != "" || total < 60 {
			t.Fatal(want.Err, total)
		}
		for _, path := range paths {
			if !slices.Contains(extensions, filepath.Ext(path)) {
				continue
			}
			compared++
			for _, batchRows := range []int{0, 7} {
				s, err := open(path, na, batchRows, "x")
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(csv.Schema(), s.Schema(), cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Text" }, cmp.Ignore())); diff != "" {
					t.Fatalf("%s: %s", path, diff)
				}
				for range 2 { // re-readable
					got := Read(s.Batches(t.Context(), s.Schema().Names()), s.Schema())
					if diff := cmp.Diff(want, got); diff != "" {
						t.Fatalf("%s, batches of %d rows: %s", path, batchRows, diff[:min(len(diff), 2000)])
					}
				}
				if n, d := s.Rows(); n != total || d != dropped {
					t.Fatalf("%s: %d rows, %d dropped; want %d, %d", path, n, d, total, dropped)
				}
			}
		}
	}
	return compared / 2
}

// Times compares files of dir, in which decimals, dates and times have some of their types, with dir/times.csv: decimals
// are the nearest numbers, dates and times count days and seconds.
func Times(t *testing.T, dir string, names []string, open Open) {
	csv, err := data.OpenCSV([]string{filepath.Join(dir, "times.csv")}, &data.CSVOptions{NA: data.NAKeep})
	if err != nil {
		t.Fatal(err)
	}
	want := Read(csv.Batches(t.Context(), csv.Schema().Names()), csv.Schema())
	units := map[string]string{
		"day": columnar.Days, "clock": columnar.Clock, "fine": columnar.Clock,
		"milli": columnar.Instants, "micro": columnar.Instants, "nano": columnar.Instants,
	}
	for _, name := range names {
		s, err := open(filepath.Join(dir, name), data.NAKeep, 0)
		if err != nil {
			t.Fatal(err)
		}
		got := Read(s.Batches(t.Context(), s.Schema().Names()), s.Schema())
		if got.Err != "" || len(got.Numbers) == 0 {
			t.Fatal(name, got.Err)
		}
		for column, bits := range got.Numbers {
			if diff := cmp.Diff(want.Numbers[column], bits); diff != "" {
				t.Errorf("%s: column %s: %s", name, column, diff)
			}
			if c, _ := s.Schema().Lookup(column); c.Unit != units[column] {
				t.Errorf("%s: %+v", name, c)
			}
		}
	}
}

// ListNulls compares a file in which lists are null, or have nulls, with arrays without them: such rows are missing cells.
func ListNulls(t *testing.T, path string, arrays data.Source, open Open) {
	want := Read(arrays.Batches(t.Context(), arrays.Schema().Names()), arrays.Schema())
	for name, keep := range map[string][]int64{"flat": {1, 2, 3, 4, 5, 7, 8, 9, 10, 11}, "nested": {0, 1, 3, 5, 6, 7, 8, 9, 10, 11}, "fixed": {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11}} {
		kept := Rows{Rows: keep, Numbers: map[string][]uint64{}, Text: map[string][]string{}, Tensors: map[string][]float64{}}
		first := int64(0)
		for width, i := int64(len(want.Tensors[name])/12), 0; i < len(keep); i++ {
			kept.Tensors[name] = append(kept.Tensors[name], want.Tensors[name][keep[i]*width:(keep[i]+1)*width]...)
			if keep[i] == first {
				first++ // in the end, the first that is missing
			}
		}
		s, err := open(path, data.NADrop, 5)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(kept, Read(s.Batches(t.Context(), []string{name}), s.Schema())); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
		if s, err = open(path, data.NAError, 0); err != nil {
			t.Fatal(err)
		}
		for _, err := range s.Batches(t.Context(), []string{name}) {
			var cell *data.CellError
			if !errors.Is(err, data.ErrMissingValue) || !errors.As(err, &cell) || cell.Row != first+1 {
				t.Errorf("%q: %v, want a missing value in row %d", name, err, first+1)
			}
		}
	}
}

package columnartest

import (
	"iter"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pho-go/pho/data"
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

// Golden compares files of other programs, bit for bit, with what the CSV reader reads of the same cells: those of
// dir/KIND.csv with the files dir/KIND_*.* and dir/KIND.* that have one of the extensions, for a policy of missing cells
// and batches of several sizes. It returns how many files were compared.
func Golden(t *testing.T, dir, kind string, extensions []string, open func(path string, na data.NAPolicy, batchRows int) (Counted, error)) int {
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
			for _, batchRows := range []int{0, 7, 100} {
				s, err := open(path, na, batchRows)
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

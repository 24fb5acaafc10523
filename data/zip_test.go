package data

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// gappy yields given rows of a table in batches of given sizes.
type gappy struct {
	*Table
	keep  []bool
	total int64
}

func (g gappy) Rows() (int64, int64) { return g.total, 0 }

func (g gappy) Batches(ctx context.Context, columns []string) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		for b, err := range g.Table.Batches(ctx, columns) {
			if err != nil {
				yield(nil, err)
				return
			}
			var rows []int
			var numbers []int64
			for i := range b.Rows() {
				if g.keep[b.Row(i)] {
					rows, numbers = append(rows, i), append(numbers, b.Row(i))
				}
			}
			if rows == nil {
				continue
			}
			p := b.Pick(rows)
			if err := p.SetRows(numbers); err != nil {
				yield(nil, err)
				return
			}
			if !yield(p, nil) {
				return
			}
		}
	}
}

// TestZip joins sources with other cuts and gaps row by row.
func TestZip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "n")
		part := func(name string) (gappy, func(i int) float64) {
			tab := NewTable(n)
			tab.BatchRows = rapid.IntRange(1, 50).Draw(t, name+" batch")
			v, k, m := make([]float64, n), make([]string, n), mat.NewDense(max(n, 1), 2, nil)
			value := func(i int) float64 { return float64(i * len(name)) }
			for i := range n {
				v[i], k[i] = value(i), name
				m.Set(i, 1, value(i))
			}
			if n > 0 {
				if err := tab.AddTensor(name+"t", m); err != nil {
					t.Fatal(err)
				}
			}
			if err := tab.AddNumeric(name, v); err != nil {
				t.Fatal(err)
			}
			if err := tab.AddTexts(name+"k", k); err != nil {
				t.Fatal(err)
			}
			keep := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, name+" keep")
			if rapid.Bool().Draw(t, name+" whole") {
				for i := range keep {
					keep[i] = true
				}
			}
			return gappy{tab, keep, int64(n)}, value
		}
		a, av := part("a")
		b, bv := part("bb")
		z, err := Zip(Part{"A", a}, Part{"B", b})
		if err != nil {
			t.Fatal(err)
		}
		var want []int64
		for i := range n {
			if a.keep[i] && b.keep[i] {
				want = append(want, int64(i))
			}
		}
		for range 2 {
			got := all(z)
			if got.Err != "" {
				t.Fatal(got.Err)
			}
			if diff := cmp.Diff(want, got.Rows); diff != "" {
				t.Fatal(diff)
			}
			for k, row := range got.Rows {
				if got.Tensors["bbt"][2*k+1] != bv(int(row)) || got.Tensors["at"][2*k+1] != av(int(row)) || got.Text["bbk"][k] != "bb" {
					t.Fatalf("row %d: %v", row, got)
				}
			}
		}
	})
}

func TestZipBad(t *testing.T) {
	table := func(name string, n int) *Table {
		tab := NewTable(n)
		if err := tab.AddNumeric(name, make([]float64, n)); err != nil {
			t.Fatal(err)
		}
		return tab
	}
	if _, err := Zip(); message(err) != "data: no sources to join" {
		t.Error(err)
	}
	_, err := Zip(Part{"a.csv", table("x", 1)}, Part{"b.npy", table("x", 1)})
	if message(err) != `data: both "a.csv" and "b.npy" have a column "x": rename one` {
		t.Error(err)
	}
	for _, c := range [][2]int{{5, 9}, {9, 5}, {0, 1}, {4096, 4097}, {4097, 4096}} {
		z, err := Zip(Part{"a.csv", table("x", c[0])}, Part{"b.npy", table("y", c[1])})
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf(`data: "a.csv" has %s, "b.npy" has %s: what is joined row by row needs equally many`, rowCount(int64(c[0])), rowCount(int64(c[1])))
		if got := all(z).Err; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got := flatten(z.Batches(context.Background(), []string{"x"})); got.Err != "" || len(got.Rows) != c[0] {
			t.Error(got)
		}
	}
	z, err := Zip(Part{"a.csv", table("x", 3)}, Part{"b.npy", table("y", 3)})
	if err != nil {
		t.Fatal(err)
	}
	if got := flatten(z.Batches(context.Background(), []string{"z"})).Err; got != `data: no column "z" in "a.csv" and what is joined with it; the nearest name is "x"` {
		t.Error(got)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got := flatten(z.Batches(ctx, []string{"y"})).Err; got != context.Canceled.Error() {
		t.Error(got)
	}
}

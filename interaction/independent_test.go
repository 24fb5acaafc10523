package interaction

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// dependent are n rows of x, which is normal, of h = x rounded, which has few values, of the level g of x's sign, of weights w, and of
// gap, which misses a value.
func dependent(t *testing.T, n int) *Sample {
	t.Helper()
	s := NewWideSample([]string{"g", "gap", "h", "id", "w", "x"}, "w")
	b := data.NewBatch(n, 0)
	r := rand.New(rand.NewPCG(1, 2))
	x, h, w, g, id := make([]float64, n), make([]float64, n), make([]float64, n), make([]int32, n), make([]int32, n)
	levels := make([]string, n)
	for i := range n {
		x[i], w[i] = r.NormFloat64(), float64(r.IntN(3))
		h[i] = math.Round(x[i])
		if x[i] > 0.5 {
			g[i] = 1
		}
		id[i], levels[i] = int32(i), string(rune('a'+i/26))+string(rune('a'+i%26))
	}
	gap := slices.Clone(x)
	gap[n/2] = math.NaN()
	for _, err := range []error{
		b.SetNumeric("gap", gap), b.SetNumeric("x", x), b.SetNumeric("h", h), b.SetNumeric("w", w), b.SetCodes("g", data.Codes{Index: g, Levels: []string{"low", "high"}}),
		b.SetCodes("id", data.Codes{Index: id, Levels: levels}), s.Scanner().Scan(b),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestIndependent: any two columns take each two nodes once, and by the nodes' shares each has the weighted means of the
// sample; a column of too many levels has none, nor one with missing values, and takes one value as others do.
func TestIndependent(t *testing.T) {
	s := dependent(t, 600)
	rows, err := s.Independent([]string{"g", "gap", "h", "id", "x"}, 2, map[string]int{"picture": 3})
	if err != nil {
		t.Fatal(err)
	}
	side := len(rows.Share["x"])
	if n := rows.Rows.Rows(); n != side*side || side != 101 {
		t.Fatalf("%d rows, %d nodes", n, side)
	}
	if rows.Node["id"] != nil || rows.Node["gap"] != nil || rows.Node["g"] == nil {
		t.Errorf("nodes in %d rows of id, %d of gap, %d of g", len(rows.Node["id"]), len(rows.Node["gap"]), len(rows.Node["g"]))
	}
	for _, a := range []string{"g", "h"} {
		seen := map[[2]int]bool{}
		for i, at := range rows.Node[a] {
			seen[[2]int{at, rows.Node["x"][i]}] = true
		}
		if len(seen) != side*side {
			t.Errorf("%s and x take %d of %d pairs of nodes", a, len(seen), side*side)
		}
	}
	three, err := s.Independent([]string{"g", "h", "x"}, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[[3]int]bool{}
	for i, at := range three.Node["g"] {
		seen[[3]int{at, three.Node["h"][i], three.Node["x"][i]}] = true
	}
	if n := len(three.Share["x"]); len(seen) != n*n*n || three.Rows.Rows() != n*n*n {
		t.Errorf("g, h and x take %d combinations of %d nodes", len(seen), n)
	}
	x, err := rows.Rows.Numeric("x")
	if err != nil {
		t.Fatal(err)
	}
	h, err := rows.Rows.Numeric("h")
	if err != nil {
		t.Fatal(err)
	}
	g, err := rows.Rows.Codes("g")
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]func(i int) float64{
		"x": func(i int) float64 { return x[i] }, "h": func(i int) float64 { return h[i] },
		"g": func(i int) float64 {
			if g.Levels[g.Index[i]] == "high" {
				return 1
			}
			return 0
		},
	}
	wanted := map[string][2]float64{} // mean and mean square
	sum := 0.0
	for _, r := range s.kept {
		w := r.values[4].number
		sum += w
		high := 0.0
		if *r.values[0].level == "high" {
			high = 1
		}
		for name, v := range map[string]float64{"g": high, "h": r.values[2].number, "x": r.values[5].number} {
			m := wanted[name]
			wanted[name] = [2]float64{m[0] + w*v, m[1] + w*v*v}
		}
	}
	for name, want := range wanted {
		var got [2]float64
		for i, node := range rows.Node[name] {
			weight := rows.Share[name][node] / float64(side) // each node in side rows
			v := at[name](i)
			got[0] += weight * v
			got[1] += weight * v * v
		}
		tolerance := 1e-12
		if name == "x" {
			tolerance = 0.02 // 101 quantiles
		}
		for i := range got {
			if math.Abs(got[i]-want[i]/sum) > tolerance {
				t.Errorf("%s: moment %d is %g, want %g", name, i+1, got[i], want[i]/sum)
			}
		}
	}
	p, err := rows.Rows.Tensor("picture")
	if err != nil {
		t.Fatal(err)
	}
	if _, width := p.Dims(); width != 3 {
		t.Errorf("a tensor of width %d", width)
	}
	var none *decompose.Independent
	if none, err = NewWideSample([]string{"x"}, "").Independent([]string{"x"}, 2, nil); none != nil || err != nil {
		t.Errorf("of no rows: %v, %v", none, err)
	}
	if _, err = s.Independent([]string{"z"}, 2, nil); err == nil {
		t.Error("a column that the sample has not is no error")
	}
}

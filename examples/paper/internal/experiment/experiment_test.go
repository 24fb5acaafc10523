package experiment

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/plot"
)

// TestRepeat: results are in order and the same for any number of workers, and
// the first failure is told.
func TestRepeat(t *testing.T) {
	draw := func(_ context.Context, i int, rng *rand.Rand) (float64, error) {
		return float64(i) + rng.Float64(), nil
	}
	var want []float64
	for _, workers := range []int{0, 1, 5} {
		got, err := Repeat(t.Context(), &Experiment{Seed: 3, Workers: workers}, 7, 20, draw)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d workers: %v, want %v", workers, got, want)
		}
		for i, v := range got {
			if int(v) != i {
				t.Errorf("%d workers: result %d is that of repetition %v", workers, i, v)
			}
		}
	}
	for _, other := range []struct{ seed, stream uint64 }{{4, 7}, {3, 8}} {
		got, err := Repeat(t.Context(), &Experiment{Seed: other.seed}, other.stream, 20, draw)
		if err != nil || slices.Equal(got, want) {
			t.Errorf("seed %d, stream %d: the numbers of seed 3, stream 7 (%v)", other.seed, other.stream, err)
		}
	}
	fault := errors.New("third")
	_, err := Repeat(t.Context(), &Experiment{Workers: 2}, 1, 20, func(ctx context.Context, i int, _ *rand.Rand) (int, error) {
		if i == 2 {
			return 0, fault
		}
		return i, ctx.Err()
	})
	if !errors.Is(err, fault) {
		t.Errorf("error %v, want %v", err, fault)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Repeat(ctx, &Experiment{}, 1, 3, draw); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled run: %v", err)
	}
}

// TestQuantile: the values of R's quantile(c(1, 2, 4, 8, 16), p), type 7.
func TestQuantile(t *testing.T) {
	v := []float64{8, 1, 16, 4, 2}
	for p, want := range map[float64]float64{0: 1, 0.1: 1.4, 0.25: 2, 0.5: 4, 0.9: 12.8, 1: 16} {
		if got := Quantile(p, v); math.Abs(got-want) > 1e-12 {
			t.Errorf("quantile %g is %g, want %g", p, got, want)
		}
	}
	if !math.IsNaN(Median(nil)) || !math.IsNaN(Median([]float64{1, math.NaN()})) {
		t.Error("a median of nothing, or of what is not a number")
	}
}

func TestTable(t *testing.T) {
	tab := NewTable("set", "n", "rmse")
	tab.Add("a|b", 100, 0.012345678)
	tab.Add("c", 1000, math.NaN())
	e := &Experiment{Name: "test", Out: t.TempDir()}
	if err := e.WriteCSV("t.csv", tab); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(e.Out, "t.csv"))
	if want := "set,n,rmse\na|b,100,0.0123457\nc,1000,\n"; err != nil || string(got) != want {
		t.Errorf("CSV %q, want %q (%v)", got, want, err)
	}
	want := `| set  |    n |   rmse |
| ---- | ---: | -----: |
| a\|b |  100 | 0.0123 |
| c    | 1000 |        |
`
	if got := tab.Markdown(3); got != want {
		t.Errorf("Markdown\n%swant\n%s", got, want)
	}
	tab.Add("short")
	if err := e.WriteCSV("t.csv", tab); err == nil || !strings.Contains(err.Error(), "row 2 has 1 cells, the header 3") {
		t.Errorf("a short row: %v", err)
	}
}

func TestProvenance(t *testing.T) {
	e := &Experiment{Name: "test", Out: t.TempDir(), Seed: 5}
	e.Set("rows", []int{100, 1000})
	if err := e.WriteCSV("t.csv", NewTable("a")); err != nil {
		t.Fatal(err)
	}
	e.Took(time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), 90)
	if err := e.writeProvenance(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(e.Out, "test.json"))
	if err != nil {
		t.Fatal(err)
	}
	var p provenance
	if err := json.Unmarshal(raw, &p); err != nil {
		t.Fatal(err)
	}
	if p.Command != "examples/paper/test" || p.Seconds != 90 || p.Started != "2026-01-02T03:04:05Z" || p.Seed != 5 || !slices.Equal(p.Files, []string{"t.csv"}) || p.Commit == "" || p.Settings["rows"] == nil {
		t.Errorf("provenance %+v", p)
	}
}

func TestDataFile(t *testing.T) {
	e := &Experiment{Data: t.TempDir()}
	if _, err := e.DataFile("yacht.csv"); !errors.Is(err, ErrNoData) || !strings.Contains(err.Error(), "make data") {
		t.Errorf("a missing file: %v", err)
	}
	if err := os.WriteFile(filepath.Join(e.Data, "yacht.csv"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if path, err := e.DataFile("yacht.csv"); err != nil || path != filepath.Join(e.Data, "yacht.csv") {
		t.Errorf("path %q, %v", path, err)
	}
}

// TestFigure: a figure with everything in it is well-formed, without numbers that
// are none, twice the same, and names what it shows.
func TestFigure(t *testing.T) {
	nan := math.NaN()
	f := &Figure{Title: "Error <by> method & size", Columns: 2, Note: []string{"a note"}, Panels: []Panel{
		{Title: "n = 100", X: "p/q", Y: "RMSE", LogY: true, Categories: []string{"1/1", "3/3"}, Boxes: []Boxes{
			{Name: "PHO", Values: [][]float64{{1, 2, 3, 4, 100}, {0, 1}}}, {Name: "ONO", Values: [][]float64{{2}, nil}},
		}, Levels: []Level{{"truth", 1.5}}},
		{Title: "curves", X: "x", Y: "f(x)", LogX: true, Lines: []Line{{Name: "fit", X: []float64{1, 10, 100, 1000}, Y: []float64{1, nan, 3, 2}, Lo: []float64{0, 1, 2, 1}, Hi: []float64{2, 3, 4, 3}, Dots: true}}},
		{Title: "map", X: "lon", Y: "lat", Heat: &Heat{X: []float64{0, 1}, Y: []float64{0, 1, 2}, Z: []float64{-1, nan, 1, 0, 0.5, 2}}},
		{Title: "cut", Y: "RMSE", MinY: 0, MaxY: 2, Categories: []string{"a"}, Boxes: []Boxes{{Name: "PHO", Values: [][]float64{{1, 1.1, 1.2, 50}}}}},
		{Title: "nothing"},
	}}
	drawn, err := f.SVG()
	if err != nil {
		t.Fatal(err)
	}
	svg := string(drawn)
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, bad := range []string{"NaN", "Inf"} {
		if strings.Contains(svg, bad) {
			t.Errorf("%s in the picture", bad)
		}
	}
	for _, want := range []string{">Error &lt;by&gt; method &amp; size<", ">PHO<", ">ONO<", ">truth<", ">n = 100<", ">3/3<", ">1 points beyond the axis<", ">a note<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in the picture", want)
		}
	}
	if strings.Count(svg, ">PHO<") != 1 {
		t.Error("a series of two panels is named twice")
	}
	if again, err := f.SVG(); err != nil || string(again) != svg {
		t.Error("two pictures of one figure differ")
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		ticks  func(lo, hi float64) []plot.Tick
		want   []string
	}{
		{0.9, 11000, logTicks, []string{"1", "10", "100", "1000", "10000"}},
		{0.2, 6, logTicks, []string{"0.2", "0.5", "1", "2", "5"}},
		{3, 3.1, logTicks, []string{}},
		{0, 10, linearTicks, []string{"0", "2", "4", "6", "8", "10"}},
		{-2.6, 2.6, linearTicks, []string{"−2", "−1", "0", "1", "2"}},
		{-126, -66, linearTicks, []string{"−120", "−110", "−100", "−90", "−80", "−70"}},
		{0.01, 0.0131, linearTicks, []string{"0.01", "0.011", "0.012", "0.013"}},
	} {
		got := []string{}
		for _, tick := range c.ticks(c.lo, c.hi) {
			got = append(got, tick.Label)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%g to %g: ticks %v, want %v", c.lo, c.hi, got, c.want)
		}
	}
}

func TestSpan(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		v    []float64
		log  bool
		want span
	}{
		{[]float64{0, nan, 10}, false, span{-0.4, 10.4}},
		{[]float64{-1, 0, 1, 1e50}, true, span{1e-2, 1e52}},
		{[]float64{3}, false, span{2.5, 3.5}},
		{[]float64{-3}, true, span{1, 2}},
	} {
		got := spanOf(c.log, c.v).padded(c.log)
		if math.Abs(got.lo-c.want.lo) > 1e-9 || math.Abs(got.hi/c.want.hi-1) > 1e-9 {
			t.Errorf("%v, logarithmic %v: %v, want %v", c.v, c.log, got, c.want)
		}
	}
}

package report_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/report"
)

// district is a black box of the California table: prices by place, income and crowding.
type district struct{}

func (district) Predictors() []string { return []string{"eta"} }
func (district) Columns() []string {
	return []string{"med_inc", "ave_occup", "population", "longitude", "latitude"}
}
func (district) Intercept(int) float64        { return 0 }
func (district) Taps() map[string]int         { return nil }
func (district) Blocks(int) []decompose.Block { return nil }

func (m district) Forward(_ context.Context, dst *decompose.Outputs, b *data.Batch) error {
	var x [5][]float64
	for i, c := range m.Columns() {
		v, err := b.Numeric(c)
		if err != nil {
			return err
		}
		x[i] = v
	}
	for i := range b.Rows() {
		inc, occ, pop, lon, lat := x[0][i], x[1][i], x[2][i], x[3][i], x[4][i]
		coast := (lon + 120) + 0.9*(lat-36)
		v := math.Tanh(inc/4) + 0.8/(1+occ) + 0.05*math.Log(pop) + math.Exp(-coast*coast/2)*0.8 + 0.1*math.Sin(3*lon)*math.Cos(2*lat)
		dst.Zeta.Set(i, 0, v)
		dst.Eta.Set(i, 0, v)
	}
	return nil
}

// california reads ../shared's table, with a factor of which the level "few" has 12 rows.
func california(t testing.TB) (*data.Table, map[string][]float64) {
	t.Helper()
	shared := os.Getenv("PHO_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "shared")
	}
	path := filepath.Join(shared, "data", "california_housing.csv.gz")
	f, err := os.Open(path)
	if err != nil {
		t.Skipf("%s is not there", path)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	must(t, err)
	records, err := csv.NewReader(z).ReadAll()
	must(t, err)
	n := len(records) - 1
	table, columns, band := data.NewTable(n), map[string][]float64{}, make([]string, n)
	for j, name := range records[0] {
		x := make([]float64, n)
		for i := range x {
			x[i], err = strconv.ParseFloat(records[i+1][j], 64)
			must(t, err)
		}
		columns[name] = x
		must(t, table.AddNumeric(name, x))
	}
	for i, age := range columns["house_age"] {
		switch {
		case i%1720 == 5:
			band[i] = "few"
		case age < 20:
			band[i] = "new"
		default:
			band[i] = "old"
		}
	}
	must(t, table.AddTexts("band", band))
	return table, columns
}

// TestCalifornia: pictures of a skewed table follow its rows. The colours of the map were
// once 17 times as wide as the effect at the rows, and a curve by a level of few rows, drawn
// over the range of all, left every other curve flat.
func TestCalifornia(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	table, x := california(t)
	m := structured(t, district{}, table, "~ s(med_inc) + s(population) + te(longitude,latitude) + s(ave_occup, by=band)")
	r, a := decomposed(t, m, table, nil)
	effects := effectsOf(t, r, a)

	t.Run("grid", func(t *testing.T) {
		e := find(t, effects, "s(population)")
		if n := e.X.Len(); n != 101 || !slices.IsSorted(e.X.Values) || len(slices.Compact(slices.Clone(e.X.Values))) != 101 {
			t.Fatalf("%d points, %v", n, e.X.Values)
		}
		sorted := slices.Clone(x["population"])
		slices.Sort(sorted)
		if e.X.Values[0] != sorted[0] || e.X.Values[100] != sorted[len(sorted)-1] {
			t.Errorf("from %g to %g, the rows from %g to %g", e.X.Values[0], e.X.Values[100], sorted[0], sorted[len(sorted)-1])
		}
		within := 0
		for _, v := range e.X.Values {
			if v <= sorted[len(sorted)*98/100] {
				within++
			}
		}
		if within < 60 { // equally spaced points had 14 there
			t.Errorf("%d of 101 points where 98 %% of the rows lie", within)
		}
	})

	t.Run("by", func(t *testing.T) {
		e := find(t, effects, "s(ave_occup):bandfew")
		var few []float64
		for i, v := range x["ave_occup"] {
			if i%1720 == 5 {
				few = append(few, v)
			}
		}
		if got := e.X.Values; got[0] != slices.Min(few) || got[100] != slices.Max(few) {
			t.Errorf("the curve of 12 rows runs from %g to %g, they from %g to %g", got[0], got[100], slices.Min(few), slices.Max(few))
		}
	})

	t.Run("blank", func(t *testing.T) {
		e := find(t, effects, "te(longitude,latitude)")
		wide, high := spanOf(x["longitude"]), spanOf(x["latitude"])
		blank := 0
		for p, v := range e.After {
			lon, lat := e.X.Values[p/e.X2.Len()], e.X2.Values[p%e.X2.Len()]
			nearest := math.Inf(1)
			for i := range x["longitude"] {
				nearest = math.Min(nearest, math.Hypot((x["longitude"][i]-lon)/wide, (x["latitude"][i]-lat)/high))
			}
			switch {
			case math.IsNaN(v) && nearest <= 0.1:
				t.Fatalf("no value at %g, %g, with a row at %.3f of the ranges", lon, lat, nearest)
			case !math.IsNaN(v) && nearest > 0.1+math.Sqrt2/decompose.SupportBins:
				t.Fatalf("a value at %g, %g, though the nearest row is at %.3f of the ranges", lon, lat, nearest)
			case math.IsNaN(v) != math.IsNaN(e.Before[p]) || math.IsNaN(v) != math.IsNaN(e.Sim[p]):
				t.Fatal("before, after and band are blank at different points")
			case math.IsNaN(v):
				blank++
			}
		}
		if blank < 200 {
			t.Errorf("%d blank points", blank)
		}
	})

	t.Run("scales", func(t *testing.T) {
		page := pageOf(t, r, effects)
		for _, s := range regexp.MustCompile(`enlarged ([0-9.e+]+) times`).FindAllStringSubmatch(page, -1) {
			if v, _ := strconv.ParseFloat(s[1], 64); v > 100 {
				t.Errorf("a panel is %s", s[0])
			}
		}
		// The colours end at the size that the term has at the rows.
		var size []float64
		for parts, err := range a.All(context.Background(), table) {
			must(t, err)
			for j, term := range r.Predictors[0].Terms {
				for i := range parts.Batch.Rows() {
					if term.Name == "te(longitude,latitude)" {
						size = append(size, math.Abs(parts.Predictors[0].Terms.At(i, j)))
					}
				}
			}
		}
		slices.Sort(size)
		ends := regexp.MustCompile(`Colours end at ±([0-9.]+)`).FindStringSubmatch(page)
		if ends == nil {
			t.Fatal("the caption does not say where the colours end")
		}
		got, _ := strconv.ParseFloat(ends[1], 64)
		if lo, hi := size[len(size)*95/100], size[len(size)-1]; got < lo || got > 1.1*hi {
			t.Errorf("colours end at %g; at the rows the term is %g (95 %%) to %g", got, lo, hi)
		}
		for _, words := range []string{"standard error", "Rows of higher ave_occup, up to 1243, are not in the picture (less than 2 %)", "farther from every row than a tenth of the ranges"} {
			if !strings.Contains(page, words) {
				t.Errorf("the page does not say %q", words)
			}
		}
		if strings.Contains(page, `data-panel="before"`) || strings.Contains(page, `<path class="before" d="M46`) {
			t.Error("a picture of nothing: the network has no terms of its own")
		}
	})
}

func spanOf(x []float64) float64 { return slices.Max(x) - slices.Min(x) }

// TestSizeOfPage: fifty terms, surfaces among them, stay below a megabyte; the number of rows
// does not matter.
func TestSizeOfPage(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	n := 5000
	src := rows(t, n)
	formula := []string{"te(x0,x1,k=4)", "te(x0,x2,k=4)", "te(x1,x2,k=4)", "te(x2,x3,k=4)", "dow", "group"}
	for j := range 44 {
		name := "z" + strconv.Itoa(j)
		v := make([]float64, n)
		for i := range v {
			v[i] = math.Mod(float64(i)*math.Sqrt(float64(j)+2.5), 1) * float64(i%(j+3))
		}
		must(t, src.AddNumeric(name, v))
		formula = append(formula, "s("+name+`, bs="cr", k=6)`)
	}
	r, a := decomposed(t, structured(t, &network{heads: []string{"eta"}}, src, "~ "+strings.Join(formula, " + ")), src, nil)
	var page bytes.Buffer
	must(t, report.Write(&page, r, effectsOf(t, r, a)))
	if page.Len() > 650_000 { // leaves room for rows and names
		t.Errorf("%d bytes", page.Len())
	}
	var artifact bytes.Buffer
	must(t, r.EncodeMoments(io.Discard))
	must(t, r.Encode(&artifact))
	t.Logf("%d terms: page of %d bytes, artifact of %d", len(r.Predictors[0].Terms), page.Len(), artifact.Len())
}

// TestSizeOfTenClasses: neither do ten predictors of ten smooths each, with all that moved and
// the rest in tables, make a page of a megabyte; all but the first are folded.
func TestSizeOfTenClasses(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	n := 3000
	src := rows(t, n)
	var formula, heads []string
	for j := range 10 {
		name := "z" + strconv.Itoa(j)
		v := make([]float64, n)
		for i := range v {
			v[i] = math.Mod(float64(i)*math.Sqrt(float64(j)+2.5), 1)
		}
		must(t, src.AddNumeric(name, v))
		formula, heads = append(formula, "s("+name+`, bs="cr", k=8)`), append(heads, "class "+strconv.Itoa(j))
	}
	r, a := decomposed(t, structured(t, &alone{heads: heads, f: math.Sin, column: "z0"}, src, "~ "+strings.Join(formula, " + ")), src, nil)
	page := pageOf(t, r, effectsOf(t, r, a))
	if len(page) > 800_000 { // leaves room for rows and names
		t.Errorf("%d bytes", len(page))
	}
	if figures, folds := strings.Count(page, "<figure "), strings.Count(page, `<details class="fold">`); figures != 100 || folds != 8 {
		t.Errorf("%d figures, %d predictors folded", figures, folds)
	}
}

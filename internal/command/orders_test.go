package command

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/app/wiring"
)

// ordersOf reads the orders of every predictor from a result.
func ordersOf(t *testing.T, dir string) (shares [][]float64, remainder []float64) {
	t.Helper()
	var doc struct {
		Predictors []struct {
			Orders []struct {
				Order int
				Share float64
				Terms []string
			}
			Remainder *float64 `json:"orders_remainder"`
		}
	}
	if err := json.Unmarshal([]byte(read(t, dir, resultdir.Decomposition)), &doc); err != nil {
		t.Fatal(err)
	}
	for _, p := range doc.Predictors {
		if p.Remainder == nil {
			t.Fatalf("no orders in %s", dir)
		}
		var of []float64
		for i, o := range p.Orders {
			if o.Order != i+1 {
				t.Errorf("order %d is number %d", o.Order, i+1)
			}
			of = append(of, o.Share)
		}
		shares, remainder = append(shares, of), append(remainder, *p.Remainder)
	}
	return shares, remainder
}

// Two predictors of a network and a formula: each has its orders, in the file, on the
// terminal and in the report; without the flag there is nothing of them.
func TestOrdersOfTwoPredictors(t *testing.T) {
	dir := t.TempDir()
	rows, out := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "out")
	goldenRows(t, "two_heads", rows)
	columns := strings.Split(strings.SplitN(read(t, rows), "\n", 2)[0], ",")
	formula := fmt.Sprintf("~ te(%s, %s, k=4)", columns[0], columns[1])
	o := done(t, "decompose", "--model", golden("two_heads"), "--data", rows, "--formula", formula, "--orders", "--out", out)
	shares, remainder := ordersOf(t, out)
	if len(shares) != 2 {
		t.Fatalf("%v", shares)
	}
	for k := range shares {
		if len(shares[k]) != 2 || math.Abs(shares[k][0]+shares[k][1]+remainder[k]-1) > 1e-12 || shares[k][0] <= 0 {
			t.Errorf("predictor %d: %v and %g", k, shares[k], remainder[k])
		}
	}
	for k, name := range []string{"mu", "sigma"} {
		line := fmt.Sprintf("  %s %s %s %s\n", name, wiring.Percent(shares[k][0]), wiring.Percent(shares[k][1]), wiring.Percent(remainder[k]))
		if said := regexp.MustCompile(` +`).ReplaceAllString(o.err, " "); !strings.Contains(said, strings.TrimPrefix(line, " ")) {
			t.Errorf("no %q in\n%s", line, o.err)
		}
	}
	if n := strings.Count(o.err, "by order of interaction (unpenalised)"); n != 1 {
		t.Errorf("orders are there %d times in\n%s", n, o.err)
	}
	if n := strings.Count(read(t, out, resultdir.Report), ">Orders of interaction</h2>"); n != 2 {
		t.Errorf("%d sections on orders in the report", n)
	}
	before := read(t, out, resultdir.Report)
	done(t, "report", out)
	if read(t, out, resultdir.Report) != before {
		t.Error("report, read from the artifact, differs")
	}
	done(t, "decompose", "--model", golden("two_heads"), "--data", rows, "--formula", formula, "--out", out)
	if strings.Contains(read(t, out, resultdir.Decomposition), `"orders`) || strings.Contains(read(t, out, resultdir.Report), "Orders of interaction") {
		t.Error("orders that nobody asked for")
	}
}

// LightGBM's trees of depth two on single columns and pairs: nothing is left over, and main effects are all there, as pairs are split
// from terms of their columns; as fitted, what there are of them beyond the trees' own curves is said not to be known.
func TestOrdersOfTrees(t *testing.T) {
	dir := t.TempDir()
	rows, out := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "out")
	model := filepath.Join("..", "..", "testdata", "zoo", "networks", "lightgbm", "pairs.onnx")
	r := rand.New(rand.NewPCG(4, 2))
	text := "x0,x1,x2,x3\n"
	for range 300 {
		text += fmt.Sprintf("%g,%g,%g,%g\n", r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64())
	}
	write(t, rows, text)
	flags := []string{"decompose", "--model", model, "--data", rows, "--input", "X=x0..x3", "--orders", "--out", out}
	bad := call(t, append(flags, "--terms", "fitted")...)
	if bad.status == exitDone || !strings.Contains(bad.err, `"f(x0,x1)" would count its main effects as interactions: add terms of "x1" alone by a formula, as ~ . does`) {
		t.Fatalf("status %d: %s", bad.status, bad.err)
	}
	done(t, flags...)
	shares, remainder := ordersOf(t, out)
	if len(shares[0]) != 2 || shares[0][0] < 0.5 || shares[0][1] < 0.01 || math.Abs(remainder[0]) > 1e-6 {
		t.Errorf("orders %v and %g of trees on pairs", shares, remainder)
	}
}

// For learned pairs with means over a sample of all rows, too, shards make the bytes of one decomposition.
func TestPlanOfPairs(t *testing.T) {
	t.Parallel()
	h := shards{temp: t.TempDir(), n: 3, random: rand.New(rand.NewPCG(4, 3))}
	var text strings.Builder
	text.WriteString("x0,x1,x2,x3\n")
	for range 20000 {
		fmt.Fprintf(&text, "%g,%g,%g,%g\n", h.random.NormFloat64(), h.random.NormFloat64(), h.random.NormFloat64(), h.random.NormFloat64())
	}
	data := h.place("rows.csv")
	write(t, data, text.String())
	args := []string{"--model", filepath.Join("..", "..", "testdata", "zoo", "networks", "lightgbm", "pairs.onnx"), "--data", data, "--input", "X=x0..x3"}
	done(t, append([]string{"decompose", "--out", h.place("whole")}, args...)...)
	done(t, append([]string{"plan", "--shards", "3", "--out", h.place("plan")}, args...)...)
	h.run(t)
	equalResults(t, h.place("result"), h.place("whole"))
	if doc := read(t, h.place("result"), resultdir.Decomposition); !strings.Contains(doc, `"smoothed":`) || !strings.Contains(doc, `"means":`) {
		t.Error("no split of a pair is smoothed")
	}
}

// TestPairsOfMissingValues: trees take missing values and terms do not. The columns that have them get no terms, the others do, and a
// pair has nothing of its columns' own functions on any row, the missing ones too.
func TestPairsOfMissingValues(t *testing.T) {
	dir := t.TempDir()
	rows, out := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "out")
	r := rand.New(rand.NewPCG(5, 6))
	text := "x0,x1,x2,x3\n"
	for i := range 600 {
		x0 := fmt.Sprint(r.NormFloat64())
		if i%7 == 3 {
			x0 = ""
		}
		text += fmt.Sprintf("%s,%g,%g,%g\n", x0, r.NormFloat64(), r.NormFloat64(), r.NormFloat64())
	}
	write(t, rows, text)
	model := filepath.Join("..", "..", "testdata", "zoo", "networks", "lightgbm", "pairs.onnx")
	said := done(t, "decompose", "--model", model, "--data", rows, "--input", "X=x0..x3", "--na", "keep", "--out", out)
	if !strings.Contains(said.out+said.err, "without a term: x0 (missing or infinite values)") {
		t.Errorf("not said that x0 has no term: %s", said.out)
	}
	header, records := table(t, out, resultdir.Contributions)
	values := func(term string) (x []float64) {
		for _, record := range records {
			v, err := strconv.ParseFloat(record[slices.Index(header, term)], 64)
			if err != nil {
				t.Fatal(err)
			}
			x = append(x, v)
		}
		return x
	}
	pair, one := values("f(x0,x1)"), values("f(x0)")
	if r := stat.Correlation(pair, one, nil); math.Abs(r) > 1e-6 { // by regression, but for rounding
		t.Errorf("the pair correlates by %g with its column's function", r)
	}
}

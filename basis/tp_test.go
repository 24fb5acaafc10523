package basis

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/internal/thinplate"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/decomposetest"
)

func TestThinPlateKeepsTheLaws(t *testing.T) {
	for _, text := range []string{
		`~ s(x)`, `~ s(x, m=1, k=5)`, `~ s(z, m=3)`, `~ s(x, bs="ts", k=6)`, `~ s(x, by=z, k=7)`, `~ s(x, by=g, k=7)`,
		`~ s(x, z, k=12)`, `~ s(x, z, m=3, k=14, by=g)`, `~ s(x, z, bs="ts", k=9, by=z)`, `~ s(x, z, h, k=14)`,
		`~ s(x, k=4, knots=c(2,-1,0,5,1))`, `~ s(x, z, k=4, knots=c(0,0, 1,0, 0,1, 1,1, 2,3))`,
	} {
		f, err := Parse(text, &Options{Schema: sampleSchema()})
		must(t, err)
		if err := decomposetest.Spec(f.Specs[0], Decode, sample(t, 60, 3)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestThinPlateRefuses(t *testing.T) {
	grid := func(f func(i, j float64) (a, b, c float64)) *data.Batch {
		a, b, c := make([]float64, 64), make([]float64, 64), make([]float64, 64)
		for i := range 64 {
			a[i], b[i], c[i] = f(float64(i%8), float64(i/8))
		}
		out := data.NewBatch(64, 0)
		must(t, out.SetNumeric("a", a))
		must(t, out.SetNumeric("b", b))
		must(t, out.SetNumeric("c", c))
		return out
	}
	free := grid(func(i, j float64) (a, b, c float64) { return i, j, math.Sin(i * j) })
	line := grid(func(i, j float64) (a, b, c float64) { return i + 10*j, 3 - 2*(i+10*j), 5 })
	few := grid(func(i, j float64) (a, b, c float64) { return math.Min(i, 2), math.Min(j, 3), i })
	wide := grid(func(i, j float64) (a, b, c float64) { return 1e200 * i, j, i })
	plane := grid(func(i, j float64) (a, b, c float64) { return i, j, i - 2*j })
	circle := grid(func(i, j float64) (a, b, c float64) { return math.Cos(i + 8*j), math.Sin(i + 8*j), i })
	ab := []string{"a", "b"}
	for _, c := range []struct {
		spec decompose.Spec
		b    *data.Batch
		want string
	}{
		{Surface(ab, TP{}, nil), few, `term s(a,b): columns ["a" "b"] has 12 distinct points, fewer than k = 30: set k = 12 or less`},
		{Surface(ab, TP{}, nil), line, `term s(a,b): the points of columns ["a" "b"] lie on a line, so one column follows from the others: use a smooth of fewer columns`},
		{Surface([]string{"a", "b", "c"}, TP{M: 2, K: 9}, nil), plane, `term s(a,b,c): the points of columns ["a" "b" "c"] lie on a plane, so one column follows from the others: use a smooth of fewer columns`},
		{Surface(ab, TP{M: 3, K: 9}, nil), circle, `term s(a,b): the points of columns ["a" "b"] are too special: a polynomial of degree less than m = 3 is 0 on all of them: set a smaller m or use a smooth of fewer columns`},
		{Surface([]string{"a", "c"}, TP{}, nil), line, `term s(a,c): column "c" has 1 distinct value, 5: leave it out of the term`},
		{Surface(ab, TP{}, nil), wide, `term s(a,b): columns ["a" "b"] have too wide a range for 64-bit numbers: rescale them`},
		{Surface(ab, TP{K: 3}, nil), free, `term s(a,b): k = 3: tp of 2 columns with m = 2 takes k from 4 (3 polynomials and one function more) to 1000`},
		{Surface(ab, TP{M: 1}, nil), free, `term s(a,b): m = 1: tp of 2 columns takes m from 2 to 6 (the functions are continuous only if 2m is greater than the number of columns)`},
		{Surface([]string{"a", "b", "c", "d"}, TP{}, nil), free, `term s(a,b,c,d): tp takes 1 to 3 columns, not 4: use te() of fewer, or bs = "rbf"`},
		{Surface(ab, TP{K: 4, Knots: []float64{0, 0, 1, 1, 0, 0, 2, 1}}, nil), free, `term s(a,b): knot 3 is there twice`},
		{Surface(ab, TP{K: 4, Knots: []float64{0, 0, 1, 1, 2, 2, 3, 3}}, nil), free, `term s(a,b): the points of columns ["a" "b"] lie on a line, so one column follows from the others: use a smooth of fewer columns`},
		{Surface(ab, TP{K: 4, Knots: []float64{0, 0, 1, math.Inf(1), 2, 2, 3, 3}}, nil), free, `term s(a,b): number 4 of knots is +Inf`},
		{Surface(ab, TP{}, nil), nil, `term s(a,b): no rows of columns ["a" "b"] were scanned`},
		{Surface(nil, TP{}, nil), free, `term s(): it has no columns`},
		{Surface([]string{"a", "a"}, TP{}, nil), free, `term s(a,a): column "a" is there twice`},
		{Surface(ab, nil, nil), free, `term s(a,b): no basis is given; there are tp, ts and rbf`},
		{Surface([]string{"a", "q"}, TP{}, nil), free, `term s(a,q): data: no column "q" in this batch`},
		{Smooth("a", TP{K: 20}, nil), free, `term s(a): column "a" has 8 distinct values, fewer than k = 20: set k = 8 or less`},
		{Smooth("c", TP{}, nil), line, `term s(c): column "c" has 1 distinct value, 5: leave the term out`},
		{Smooth("a", TP{M: 2}, nil), grid(func(i, j float64) (a, b, c float64) { return math.Min(i, 1), j, i }), `term s(a): column "a" has 2 distinct values, fewer than k = 10 (and this basis needs 3 at least): use the column itself or factor(a)`},
	} {
		got := ""
		var err error
		scan := c.spec.Scanner()
		if c.b != nil {
			err = scan.Scan(c.b)
		}
		if err == nil {
			_, err = scan.Build()
		}
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// TestMillionRows: any number of rows in bounded memory, and word of the sample.
func TestMillionRows(t *testing.T) {
	if testing.Short() {
		t.Skip("a million rows")
	}
	r := rand.New(rand.NewPCG(14, 1))
	const n, batch = 1_000_000, 50_000
	spec := Surface([]string{"x", "z"}, TP{}, nil).Scanner().(*surfaceScan)
	one := Smooth("x", TP{}, nil).Scanner().(*smoothScan)
	b := data.NewBatch(batch, 0)
	for range n / batch {
		x, z := make([]float64, batch), make([]float64, batch)
		for i := range x {
			x[i], z[i] = r.Float64(), r.NormFloat64()
		}
		must(t, b.SetNumeric("x", x))
		must(t, b.SetNumeric("z", z))
		must(t, spec.Scan(b))
		must(t, one.Scan(b))
	}
	if spec.points.N() > 2*thinplate.MaxPoints {
		t.Errorf("%d points are held", spec.points.N())
	}
	for s, want := range map[decompose.Noter]string{
		spec: `term s(x,z): columns ["x" "z"] have more than 2000 distinct points; the basis is made from 2000 of them, chosen by hash`,
		one:  `term s(x): column "x" has more than 2000 distinct values; the basis is made from 2000 of them, chosen by hash`,
	} {
		block := buildWith(t, s)[0]
		if got := s.Notes(); len(got) != 1 || got[0] != want {
			t.Errorf("notes %q, want %q", got, want)
		}
		x := evaluate(t, block.Term, b.Slice(0, 2000))
		for j := range block.Term.Dim() { // the sample stands for the rows
			if size := floats.Norm(mat.Col(nil, j, x), 2) / math.Sqrt(2000); size < 0.8 || size > 1.25 {
				t.Errorf("%s: column %d has root mean square %v on other rows", block.Term.Name(), j, size)
			}
		}
		spec, err := json.Marshal(block.Term)
		must(t, err)
		t.Logf("%s: %d bytes in the artifact", block.Term.Name(), len(spec))
	}
}

func TestDecodePlateRefuses(t *testing.T) {
	b := sample(t, 50, 1)
	good := func(s decompose.Spec) string {
		spec, err := json.Marshal(mustBuild(t, s, b)[0].Term)
		must(t, err)
		return string(spec)
	}
	line, plane := good(Smooth("x", TP{}, nil)), good(Surface([]string{"x", "z"}, TP{K: 8}, nil))
	for _, c := range []struct{ spec, old, new, want string }{
		{line, `"k":10`, `"k":11`, `vectors of 1, 50, 400 and 2 numbers do not make a thin plate spline of 1 column with k = 11`},
		{line, `"m":2`, `"m":0`, `thin plate splines of order 0`},
		{line, `"shift":"`, `"shift":"AAAA`, `11 bytes are not a vector of 64-bit numbers`},
		{line, line[strings.Index(line, `"shift":`):strings.Index(line, `,"points"`)], `"shift":"AAAAAAAA+H8="`, `number 1 of a vector is NaN`},
		{plane, `"bs":"tp"`, `"bs":"pt"`, `basis "pt" of several columns is not known to this version`},
		{plane, `"columns":["x","z"]`, `"columns":["x"]`, `vectors of 2, 100, 250 and 3 numbers do not make a thin plate spline of 1 column with k = 8`},
		{plane, `"columns":["x","z"]`, `"columns":["x","x"]`, `column "x" is there twice`},
		{plane, `"basis":{`, `"basis":{"extra":1,`, `json: unknown field "extra"`},
	} {
		bad := strings.Replace(c.spec, c.old, c.new, 1)
		if bad == c.spec {
			t.Fatalf("no %s in %.80s", c.old, c.spec)
		}
		if _, err := Decode(decompose.Smooth, []byte(bad)); err == nil || err.Error() != "basis: the spec of a smooth term: "+c.want {
			t.Errorf("%v\nwant %s", err, c.want)
		}
	}
}

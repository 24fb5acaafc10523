package decompose_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// far are rows of which x lies shift from its centre; x - shift is exact, so that
// sums about it are a reference in which nothing cancels.
type far struct {
	tab        *data.Table
	x, u, w, z []float64 // x is centred here
}

func farRows(t *testing.T, n int, shift, sd float64) *far {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 1))
	f := &far{data.NewTable(n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
	at := make([]float64, n)
	for i := range n {
		at[i] = shift + sd*(r.NormFloat64()+2*float64(i)/float64(n)) // it drifts, as time does
		f.x[i] = at[i] - shift
		f.u[i], f.w[i] = r.NormFloat64(), r.ExpFloat64()
		c := f.x[i] / sd
		f.z[i] = 2*c + f.u[i] + 0.3*c*f.u[i] + math.Sin(c)
	}
	for name, v := range map[string][]float64{"x": at, "centred": f.x, "u": f.u, "w": f.w, "z": f.z} {
		if err := f.tab.AddNumeric(name, v); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// decomposed is the decomposition of z on a formula, and the parts of its rows.
func (f *far) decomposed(t *testing.T, formula string, o decompose.Options) (*decompose.Result, []*decompose.Parts) {
	t.Helper()
	ctx := context.Background()
	parsed, err := basis.Parse(formula, &basis.Options{Schema: f.tab.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := decompose.Prepare(ctx, f.tab, parsed.Specs, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := decompose.With(&responses{[]string{"eta"}, []string{"z"}}, map[string][]decompose.Block{"": blocks})
	if err != nil {
		t.Fatal(err)
	}
	r, err := decompose.Decompose(ctx, m, f.tab, &o)
	if err != nil {
		t.Fatal(err)
	}
	var all []*decompose.Parts
	for parts, err := range mustApplier(t, r, m).All(ctx, f.tab) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, parts)
	}
	return r, all
}

// TestColumnsFarFromZero: a column such as a time in seconds since 1970 has the
// effect that it has about its own centre, by every route and for any distance that
// its own digits survive; and the parts sum to the network's output all the same.
func TestColumnsFarFromZero(t *testing.T) {
	const n, sd = 9000, 1e4 // three chunks
	for _, ratio := range []float64{1e3, 1.7e5, 1e7, 1e8, 1e10, 1e12} {
		f := farRows(t, n, sd*ratio, sd)
		columns := mat.NewDense(n, 3, nil)
		for i := range n {
			columns.SetRow(i, []float64{1, f.x[i] / sd, f.u[i]})
		}
		mean := stat.Mean(f.x, f.w) / sd
		coef := leastSquares(t, columns, f.z, f.w)
		for _, route := range []decompose.Route{"", decompose.Gram, decompose.QR} {
			t.Run(fmt.Sprintf("%g/%s", ratio, route), func(t *testing.T) {
				r, all := f.decomposed(t, "~ x + u", decompose.Options{Projection: decompose.Projection{Route: route}, Columns: decompose.Columns{Weights: "w"}})
				d := r.Predictors[0]
				if d.Rank != 3 || len(d.Aliased) > 0 || len(r.Warnings) > 0 {
					t.Errorf("rank %d, aliased %q, warnings %q", d.Rank, d.Aliased, r.Warnings)
				}
				near(t, "the slope of x", d.Terms[0].Alpha[0]*sd, coef[1], 1e-12)
				var term, left, sum float64
				i := 0
				for _, parts := range all {
					p := parts.Predictors[0]
					for row := range parts.Batch.Rows() {
						c := columns.At(i, 1)
						term = math.Max(term, math.Abs(p.Row(row)[0]-coef[1]*(c-mean)))
						left = math.Max(left, math.Abs(p.Unstructured[row]-(f.z[i]-coef[0]-coef[1]*c-coef[2]*f.u[i])))
						sum = math.Max(sum, math.Abs(parts.Sum(0, row)-f.z[i]))
						i++
					}
				}
				digits := 1e-12 + 1e-15*ratio // of x itself
				near(t, "the contribution of x", term, 0, digits)
				near(t, "what is left", left, 0, digits)
				near(t, "the sum of the parts", sum, 0, 1e-14)
			})
		}
	}
}

// TestSmoothsFarFromZero: smooths of the column, and products with it, do not see
// where it lies.
func TestSmoothsFarFromZero(t *testing.T) {
	for _, formula := range []string{`~ s(%s, bs="ps")`, `~ s(%s, bs="cr")`, `~ s(%s, bs="cs", by=u) + u`, `~ te(%s, u, k=4)`, `~ s(%s, k=5) + u`, `~ u + %s:u + %[1]s`} {
		for _, ratio := range []float64{1e3, 1.7e5} {
			f := farRows(t, 1500, 1e4*ratio, 1e4)
			_, here := f.decomposed(t, fmt.Sprintf(formula, "centred"), decompose.Options{})
			_, there := f.decomposed(t, fmt.Sprintf(formula, "x"), decompose.Options{})
			var worst float64
			for b := range here {
				for i, v := range here[b].Predictors[0].Unstructured {
					worst = math.Max(worst, math.Abs(v-there[b].Predictors[0].Unstructured[i]))
				}
			}
			near(t, fmt.Sprintf(formula, "x")+fmt.Sprintf(" at %g", ratio), worst, 0, 1e-8)
		}
	}
}

// TestConstantsAreTold: what varies by rounding alone is constant, and is said to be.
func TestConstantsAreTold(t *testing.T) {
	const n = 5000
	f := farRows(t, n, 0, 1)
	constant, almost, huge := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		constant[i], almost[i], huge[i] = 0.1, 0.1, 1.7e9
		if i%3 == 0 {
			almost[i] = math.Nextafter(0.1, 1)
		}
	}
	for name, v := range map[string][]float64{"constant": constant, "almost": almost, "huge": huge} {
		if err := f.tab.AddNumeric(name, v); err != nil {
			t.Fatal(err)
		}
	}
	for _, route := range []decompose.Route{"", decompose.QR} {
		r, _ := f.decomposed(t, "~ constant + u + almost + huge", decompose.Options{Projection: decompose.Projection{Route: route}})
		if got := fmt.Sprint(r.Predictors[0].Aliased); got != "[constant almost huge]" {
			t.Errorf("route %q: aliased %s", route, got)
		}
		told := strings.Join(r.Warnings, "\n")
		for _, want := range []string{
			"almost varies by 7e-17 of its mean, which is rounding in numbers of 64 bits, and counts as constant",
			"3 of 5 columns are spanned by others, to the rank tolerance of 1e-06",
		} {
			if !strings.Contains(told, want) {
				t.Errorf("route %q: warnings %q, want %q", route, told, want)
			}
		}
	}
}

// TestDeadUnitsFarFromZero: a unit that is stuck at a large value is constant; one
// next to it that moves by a millionth of its value is a column; one that moves by
// what float32 would leave is rounding, by either route.
func TestDeadUnitsFarFromZero(t *testing.T) {
	const n = 5000
	f := farRows(t, n, 0, 1)
	for _, route := range []decompose.Route{"", decompose.QR} {
		m := &units{of: func(c float64) []float64 { return []float64{1e6, 1e6 + math.Tanh(c), 1e6 * (1 + 1e-9*math.Sin(c))} }}
		r, err := decompose.Decompose(context.Background(), m, f.tab, &decompose.Options{Projection: decompose.Projection{Route: route}})
		if err != nil {
			t.Fatal(err)
		}
		d := r.Predictors[0]
		if d.Rank != 2 || fmt.Sprint(d.Aliased) != "[f(centred).1 f(centred).3]" || !d.Terms[0].Identified {
			t.Errorf("route %q: rank %d, aliased %q", route, d.Rank, d.Aliased)
		}
	}
}

// units is a network of one learned basis of the column centred, all deep.
type units struct {
	of func(float64) []float64
}

func (m *units) Predictors() []string  { return []string{"eta"} }
func (m *units) Columns() []string     { return []string{"centred"} }
func (m *units) Intercept(int) float64 { return 0 }
func (m *units) Taps() map[string]int  { return map[string]int{"h": 3} }
func (m *units) Blocks(int) []decompose.Block {
	return []decompose.Block{{Term: &decompose.Tap{Tensor: "h", Features: []string{"centred"}, Width: 3}}}
}

func (m *units) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	x, err := b.Numeric("centred")
	if err != nil {
		return err
	}
	for i, v := range x {
		dst.Taps["h"].SetRow(i, m.of(v))
		dst.Zeta.Set(i, 0, math.Sin(v)+v)
		dst.Eta.Set(i, 0, math.Sin(v)+v)
	}
	return ctx.Err()
}

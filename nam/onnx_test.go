package nam_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/nam"
)

// golden is the part of what testdata/golden/torch_models.py writes that is needed
// here: the learned bases and zeta, computed by PyTorch in float64.
type golden struct {
	Columns    []string
	X          [][]float64
	Predictors []struct {
		Eta, Zeta []float64
		Terms     []struct {
			Name   string
			Values [][]float64
		}
	}
}

func open(t testing.TB, path string, src data.Source) *onnx.Model {
	t.Helper()
	g, err := onnx.LoadFile(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	bind, err := onnx.Bind(g, src.Schema(), nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := onnx.NewModel(g, bind, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func goldenModel(t testing.TB, name string) (*onnx.Model, golden, *data.Table) {
	t.Helper()
	path := filepath.Join("..", "testdata", "golden", "models", name)
	text, err := os.ReadFile(path + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	tab := data.NewTable(len(g.X))
	for j, c := range g.Columns {
		v := make([]float64, len(g.X))
		for i := range v {
			v[i] = g.X[i][j]
		}
		if err := tab.AddNumeric(c, v); err != nil {
			t.Fatal(err)
		}
	}
	return open(t, path+".onnx", tab), g, tab
}

// What REML's ridges leave of PyTorch's zeta obeys the penalised normal equations
// in PyTorch's own hidden units: X'(zeta - X alpha) = lambda_j D_j^2 alpha_j, all
// centred.
func TestLearnedOnNetworksOfPyTorch(t *testing.T) {
	for _, name := range []string{"nam_deep_op11", "nam_deep_op13", "nam_deep_op17", "nam_pair", "nam_bmm", "nam_conv", "nam_einsum"} {
		m, g, tab := goldenModel(t, name)
		r := phonam(t, m, tab, nam.Learned, nil)
		want := g.Predictors[0]
		n := len(want.Zeta)
		column := func(values [][]float64, l int) []float64 {
			v := make([]float64, n)
			for i := range v {
				v[i] = values[i][l]
			}
			floats.AddConst(-stat.Mean(v, nil), v)
			return v
		}
		left := append([]float64(nil), want.Zeta...)
		floats.AddConst(-stat.Mean(left, nil), left)
		size := floats.Norm(left, 2)
		for j, term := range r.Predictors[0].Terms {
			if want.Terms[j].Name != term.Name {
				t.Fatalf("%s: term %q, PyTorch has %q", name, term.Name, want.Terms[j].Name)
			}
			for l, a := range term.Alpha {
				floats.AddScaled(left, -a, column(want.Terms[j].Values, l))
			}
		}
		var moved float64
		for j, term := range r.Predictors[0].Terms {
			for l, a := range term.Alpha {
				x := column(want.Terms[j].Values, l)
				sd := floats.Norm(x, 2) / math.Sqrt(float64(n))
				if sd < 1e-6 { // a dead unit
					continue
				}
				// in the units of a correlation
				if d := (floats.Dot(x, left) - term.SP[0]*sd*sd*a) / (sd * math.Sqrt(float64(n)) * size); math.Abs(d) > 1e-5 {
					t.Errorf("%s: %s, unit %d misses the normal equations by %.2g", name, term.Name, l, d)
				}
				moved = math.Max(moved, math.Abs(a)*sd)
			}
		}
		if moved == 0 {
			t.Errorf("%s: nothing moved", name)
		}
	}
}

func TestSplineOnNetworksOfPyTorch(t *testing.T) {
	for _, name := range []string{"nam_deep_op13", "nam_pair", "nam_bmm"} {
		m, g, tab := goldenModel(t, name)
		r := phonam(t, m, tab, nam.Spline, &nam.Options{Basis: "cr", K: 4, PairK: 3})
		d := r.Predictors[0]
		shapes, err := nam.Shapes(t.Context(), r, m, &nam.ShapeOptions{Points: 5, Side: 3})
		if err != nil {
			t.Fatal(err)
		}
		// Each learned curve has its spline, and so its shape is the sum of two terms.
		for _, s := range shapes {
			if len(s.Terms) != 2 {
				t.Errorf("%s: the shape of %q is of %q", name, s.Features, s.Terms)
			}
		}
		if want := len(g.Predictors[0].Terms); len(shapes) != want {
			t.Errorf("%s: %d shapes of %d learned terms", name, len(shapes), want)
		}
		if !(*d.ReconstructionError < 1e-6) || !(d.Variance.Unstructured < d.VarianceBefore.Unstructured) {
			t.Errorf("%s: reconstruction error %g, deep part %g before, %g after", name, *d.ReconstructionError, d.VarianceBefore.Unstructured, d.Variance.Unstructured)
		}
	}
}

// Without a deep part there is nothing to move, which is said.
func TestAdditiveNetwork(t *testing.T) {
	m, _, tab := goldenModel(t, "nam_only")
	for _, v := range []nam.Variant{nam.Learned, nam.Spline} {
		r := phonam(t, m, tab, v, &nam.Options{Basis: "cr", K: 4})
		for _, term := range r.Predictors[0].Terms {
			if term.Moved.Variance > 1e-12 {
				t.Errorf("%s: %s moved: %+v", v, term.Name, term.Moved)
			}
		}
		if len(r.Warnings) == 0 {
			t.Errorf("%s: no warning", v)
		}
	}
}

// The curves of a network that PyTorch exported, before and after, as a tool for
// interpretation takes them.
func ExampleShapes() {
	src, err := drawn(500)
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := demo(src)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := background()
	r, err := nam.PHONAM(ctx, m, src, nam.Learned, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	shapes, err := nam.Shapes(ctx, r, m, &nam.ShapeOptions{Values: map[string][]float64{"x5": {-2, 0, 2}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.PHONAM, "variant,", len(shapes), "shapes")
	s := shapes[5]
	fmt.Println(s.Features, s.Terms)
	for i, x := range s.Axes[0].Values {
		fmt.Printf("x5 = %2.0f: %5.1f before, %5.1f after\n", x, s.Before[i], s.After[i])
	}
	// Output:
	// learned variant, 10 shapes
	// [x5] [f(x5)]
	// x5 = -2:   2.7 before,   3.1 after
	// x5 =  0:  -0.8 before,  -0.9 after
	// x5 =  2:   2.5 before,   3.0 after
}

// Two predictors share the spline of a feature, and each has its own smoothing.
func TestTwoHeads(t *testing.T) {
	m, _, tab := goldenModel(t, "two_heads")
	r := phonam(t, m, tab, nam.Spline, &nam.Options{Basis: "cr", K: 5})
	if len(r.Predictors) != 2 {
		t.Fatalf("%d predictors", len(r.Predictors))
	}
	for _, d := range r.Predictors {
		kept, splines := 0, 0
		for _, term := range d.Terms {
			switch term.Kind {
			case decompose.Learned:
				kept++
				if floats.Norm(term.Alpha, math.Inf(1)) != 0 {
					t.Errorf("%s: %s moved", d.Name, term.Name)
				}
			case decompose.Smooth:
				splines++
				if term.EDF <= 0 {
					t.Errorf("%s: %s has edf %g", d.Name, term.Name, term.EDF)
				}
			}
		}
		if kept != 1 || splines != 1 {
			t.Errorf("%s: terms %q", d.Name, names(d))
		}
	}
	a, b := r.Predictors[0].Terms, r.Predictors[1].Terms
	if a[len(a)-1].Term() != b[len(b)-1].Term() {
		t.Error("the predictors have a spline each, which is evaluated twice")
	}
}

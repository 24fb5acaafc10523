package structure_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/adapters/onnx/internal/structure"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// discover is Discover after SplitTrees, as the public package calls it. Columns are called as inputs: x, or x[0], x[1], ...
func discover(g *graph.Graph, columns [][]string, o *structure.Options) (*structure.Found, error) {
	own := structure.Options{}
	if o != nil {
		own = *o
	}
	for i, v := range g.Inputs {
		if i == len(columns) {
			names := []string{v.Name}
			if v.Width() > 1 {
				names = nil
				for e := range v.Width() {
					names = append(names, fmt.Sprintf("%s[%d]", v.Name, e))
				}
			}
			columns = append(columns, names)
		}
	}
	split := g
	if !own.NoStructure {
		var err error
		if split, err = structure.SplitTrees(g, columns, cmp.Or(own.MaxOrder, 2), own.Limits); err != nil {
			return nil, err
		}
	}
	if split == g {
		split = structure.Copy(g)
	}
	own.Factor = basis.FactorOf
	if own.Levels == nil {
		own.Levels = func() (map[string][]string, error) { return nil, nil }
	}
	own.Evaluate = func(want []*graph.Value, inputs [][]float64, rows int) ([][]float64, error) {
		return evaluate(split, want, inputs, rows)
	}
	return structure.Discover(split, columns, own)
}

func find(t *testing.T, g *graph.Graph, o *structure.Options) *structure.Found {
	t.Helper()
	f, err := discover(g, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func load(t *testing.T, b *onnxpb.Builder) *graph.Graph {
	t.Helper()
	g, err := graphtest.Load(graphtest.Bytes(t, b))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// evaluate computes tensors of g in double precision; each is rows x its width.
func evaluate(g *graph.Graph, want []*graph.Value, inputs [][]float64, rows int) ([][]float64, error) {
	r, err := engine.New(g, want, engine.Options{})
	if err != nil {
		return nil, err
	}
	dst := make([][]float64, len(want))
	for i, v := range want {
		dst[i] = make([]float64, rows*v.Width())
	}
	return dst, r.Run(dst, inputs, rows)
}

// part is a term, or an element of the deep part, times its coefficients.
type part struct {
	columns string // joined; "" of the deep part
	values  []float64
}

// partsOf are the predictor k on rows of all columns, and the parts that add up to it after the intercept.
func partsOf(t *testing.T, f *structure.Found, k int, columns map[string][]float64) (eta []float64, parts []part) {
	t.Helper()
	rows := len(columns[f.Columns[0]])
	batch := data.NewBatch(rows, 0)
	for name, x := range columns {
		if err := batch.SetNumeric(name, x); err != nil {
			t.Fatal(err)
		}
	}
	inputs := inputsOf(f, columns, rows)
	p := f.Parts[k]
	add := func(columns []int, coef []float64, values [][]float64) {
		own := part{values: make([]float64, rows)}
		for _, c := range columns {
			own.columns += f.Columns[c]
		}
		for j, x := range values {
			for r, v := range x {
				own.values[r] += coef[j] * v
			}
		}
		parts = append(parts, own)
	}
	for _, l := range p.Linear {
		add([]int{l.Column}, []float64{l.Coef}, [][]float64{columns[f.Columns[l.Column]]})
	}
	for _, l := range p.Learned {
		add(l.Tap.Columns, l.Coef, elements(t, f, inputs, rows, l.Tap.Elements...))
	}
	for _, b := range p.Declared {
		values := mat.NewDense(rows, b.Term.Dim(), nil)
		if err := b.Term.Eval(values, batch); err != nil {
			t.Fatal(err)
		}
		own := make([][]float64, b.Term.Dim())
		for j := range own {
			own[j] = mat.Col(nil, j, values)
		}
		add(nil, b.Coef, own)
	}
	if len(p.Deep) > 0 {
		add(nil, p.Gamma, elements(t, f, inputs, rows, p.Deep...))
	}
	return elements(t, f, inputs, rows, p.Eta)[0], parts
}

// inputsOf are the graph's inputs, rows x their width.
func inputsOf(f *structure.Found, columns map[string][]float64, rows int) (inputs [][]float64) {
	for i, v := range f.Graph.Inputs {
		width := v.Width()
		x := make([]float64, rows*width)
		for e, name := range f.Inputs[i].Columns {
			for r := range rows {
				x[r*width+e] = columns[name][r]
			}
		}
		inputs = append(inputs, x)
	}
	return inputs
}

// drawn are rows of all columns drawn at random: numbers of float32, or 1 and 2 where an input takes whole ones.
func drawn(f *structure.Found, rows int) map[string][]float64 {
	random := rand.New(rand.NewPCG(7, 7))
	columns := map[string][]float64{}
	for i, v := range f.Graph.Inputs {
		for _, name := range f.Inputs[i].Columns {
			x := make([]float64, rows)
			for r := range x {
				if x[r] = float64(float32(random.NormFloat64())); !v.Type.Floating() {
					x[r] = float64(1 + random.IntN(2))
				}
			}
			columns[name] = x
		}
	}
	return columns
}

// checkSums compares predictors with the sums of the parts that were found.
func checkSums(t *testing.T, f *structure.Found, tolerance float64) {
	t.Helper()
	columns := drawn(f, 50)
	for k := range f.Parts {
		eta, parts := partsOf(t, f, k, columns)
		for r, want := range eta {
			sum := f.Parts[k].Intercept
			for _, p := range parts {
				sum += p.values[r]
			}
			if math.Abs(sum-want) > tolerance*(1+math.Abs(want)) {
				t.Fatalf("predictor %d, row %d: the parts' sum is %g, not %g", k, r, sum, want)
			}
		}
	}
}

// elements are the values of elements of tensors on all rows.
func elements(t *testing.T, f *structure.Found, inputs [][]float64, rows int, of ...structure.Element) [][]float64 {
	t.Helper()
	var all [][]float64
	for _, e := range of {
		var x []float64
		for i, v := range f.Graph.Inputs {
			if v == e.Value {
				x = inputs[i]
			}
		}
		if x == nil {
			values, err := evaluate(f.Graph, []*graph.Value{e.Value}, inputs, rows)
			if err != nil {
				t.Fatal(err)
			}
			x = values[0]
		}
		own, width := make([]float64, rows), e.Value.Width()
		for r := range own {
			own[r] = x[r*width+e.Index]
		}
		all = append(all, own)
	}
	return all
}

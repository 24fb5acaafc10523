package onnxbasis_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/internal/onnxbasis"
	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// columns are those of the table: numbers, and g of three levels that are numbers, too.
var columns = []string{"a", "b", "c", "g"}

// file is a graph whose inputs are the columns, float64 and N x 1.
type file struct {
	*onnxpb.Builder
	writer *onnxbasis.Writer
}

func newFile(opset int64) *file {
	f := &file{Builder: onnxpb.NewBuilder(opset)}
	for _, name := range columns {
		f.AddInput(name, onnxpb.TensorProto_DOUBLE, onnxpb.Rows, 1)
	}
	f.writer = onnxbasis.New(f, f)
	return f
}

func (f *file) fresh(name string) string {
	own := name
	for n := 2; f.Has(own); n++ {
		own = fmt.Sprint(name, n)
	}
	return own
}

func (f *file) Node(op, name string, inputs []string, attrs ...onnxpb.Attr) string {
	own := f.fresh(name)
	f.AddNode(op, inputs, own, attrs...)
	return own
}

func (f *file) Doubles(name string, shape []int, values ...float64) string {
	own := f.fresh(name)
	f.AddDouble(own, shape, values...)
	return own
}

func (f *file) Ints(name string, values ...int64) string {
	own := f.fresh(name)
	f.AddInts(own, values...)
	return own
}

func (f *file) Number(column string) (string, error) { return column, nil }

func (f *file) Code(of basis.Indicators) (string, error) {
	var levels []float64
	for _, l := range of.Levels {
		v, err := strconv.ParseFloat(l, 64)
		if err != nil {
			return "", err
		}
		levels = append(levels, v)
	}
	return f.writer.Find("code of "+of.Column, of.Column, levels), nil
}

// values of tensor x, N x k, on columns of the inputs.
func (f *file) values(t *testing.T, x string, k int, rows [][]float64) []float64 {
	t.Helper()
	f.Output(x, onnxpb.TensorProto_DOUBLE, onnxpb.Rows, k)
	raw, err := f.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	g, err := onnx.Load(bytes.NewReader(raw), nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := onnx.GoEngine{}.Prepare(g, []string{x})
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]float64, len(rows[0])*k)
	if err := e.Run([][]float64{dst}, rows, len(rows[0])); err != nil {
		t.Fatal(err)
	}
	return dst
}

// table draws numbers on both sides of 0, and levels 1, 2, 4.
func table(t *testing.T, n int) (*data.Table, [][]float64) {
	t.Helper()
	random := rand.New(rand.NewPCG(8, 9))
	tab, rows := data.NewTable(n), make([][]float64, len(columns))
	for j, name := range columns {
		for range n {
			v := random.NormFloat64()
			if name == "g" {
				v = []float64{1, 2, 4}[random.IntN(3)]
			}
			rows[j] = append(rows[j], v)
		}
		if err := tab.AddNumeric(name, rows[j]); err != nil {
			t.Fatal(err)
		}
	}
	return tab, rows
}

// TestTimes: what is written computes the rows of the basis times the matrix, whatever the basis and the opset; rows beyond the
// range of those that the basis was made from among them.
func TestTimes(t *testing.T) {
	tab, rows := table(t, 200)
	inside := make([][]float64, len(rows)) // the basis is made from the first rows
	for j := range rows {
		inside[j] = rows[j][:150]
	}
	made := data.NewTable(150)
	for j, name := range columns {
		if err := made.AddNumeric(name, inside[j]); err != nil {
			t.Fatal(err)
		}
	}
	for _, term := range []string{
		`a`, `a:b`, `g`, `factor(g, contr="sum")`, `g:a`, `s(g, bs="re")`, `ridge(a, b, c)`,
		`s(a, bs="ps", k=7)`, `s(a, bs="bs", k=8, knots="quantiles")`, `s(a, bs="cr", k=6)`, `s(a, bs="cc", k=6)`, `s(a, k=6)`, `s(a, m=3, k=6)`,
		`s(a, b, k=9)`, `s(a, b, c, k=14)`, `s(a, b, bs="rbf", k=6)`, `s(a, bs="bs", k=8, cuts=0.25)`,
		`te(a, b, k=c(4,5), bs=c("cr","ps"))`, `ti(a, b, k=4)`, `te(a, g, bs=c("cr","re"), k=c(4,3))`,
		`s(a, by=b, k=5)`, `s(a, by=g, k=5)`, `s(a, g, bs="fs", k=4)`,
	} {
		parsed, err := basis.Parse("~ "+term, &basis.Options{Schema: tab.Schema(), Factors: []string{"g"}})
		if err != nil {
			t.Errorf("%s: %v", term, err)
			continue
		}
		blocks, err := decompose.Prepare(context.Background(), made, parsed.Specs, nil)
		if err != nil {
			t.Errorf("%s: %v", term, err)
			continue
		}
		for _, b := range blocks {
			e, err := basis.Express(b.Term)
			if err != nil {
				t.Fatalf("%s: %v", term, err)
			}
			batch := data.NewBatch(len(rows[0]), 0)
			for j, name := range columns {
				if err := batch.SetNumeric(name, rows[j]); err != nil {
					t.Fatal(err)
				}
			}
			raw := mat.NewDense(len(rows[0]), b.Term.Dim(), nil)
			if err := b.Term.Eval(raw, batch); err != nil {
				t.Fatalf("%s: %v", term, err)
			}
			coef := mat.NewDense(b.Term.Dim(), 2, nil)
			for i := range b.Term.Dim() {
				coef.Set(i, 0, math.Sin(float64(3*i+1)))
				coef.Set(i, 1, math.Cos(float64(i)))
			}
			var want mat.Dense
			want.Mul(raw, coef)
			for _, c := range []struct {
				opset int64
				by    mat.Matrix
				want  *mat.Dense
			}{{7, coef, &want}, {22, coef, &want}, {17, nil, raw}} {
				f := newFile(c.opset)
				x, err := f.writer.Times("term", e, c.by)
				if err != nil {
					t.Fatalf("%s: %v", term, err)
				}
				_, k := c.want.Dims()
				got := f.values(t, x, k, rows)
				largest := 0.0
				for _, v := range c.want.RawMatrix().Data {
					largest = math.Max(largest, math.Abs(v))
				}
				for i, v := range c.want.RawMatrix().Data {
					if math.Abs(got[i]-v) > 1e-9*largest {
						t.Fatalf("%s, opset %d, row %d, column %d: %g, the basis has %g", b.Term.Name(), c.opset, i/k, i%k, got[i], v)
					}
				}
			}
		}
	}
}

// TestUnknownLevel: a row whose level the basis does not know is not a number, and others are as they were.
func TestUnknownLevel(t *testing.T) {
	f := newFile(17)
	x, err := f.writer.Times("g", basis.Indicators{Column: "g", Levels: []string{"1", "2", "4"}}, mat.NewDense(3, 1, []float64{10, 20, 40}))
	if err != nil {
		t.Fatal(err)
	}
	zero := []float64{0, 0, 0}
	got := f.values(t, x, 1, [][]float64{zero, zero, zero, {4, 3, 1}})
	if got[0] != 40 || !math.IsNaN(got[1]) || got[2] != 10 {
		t.Errorf("%v", got)
	}
}

// TestOnce: what two terms need of a column is written once.
func TestOnce(t *testing.T) {
	tab, _ := table(t, 100)
	parsed, err := basis.Parse(`~ s(a, bs="ps", k=7) + s(a, by=b, bs="ps", k=7)`, &basis.Options{Schema: tab.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := decompose.Prepare(context.Background(), tab, parsed.Specs, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := newFile(17)
	for _, b := range blocks {
		e, err := basis.Express(b.Term)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.writer.Times(b.Term.Name(), e, mat.NewDense(b.Term.Dim(), 1, slices.Repeat([]float64{1}, b.Term.Dim()))); err != nil {
			t.Fatal(err)
		}
	}
	searches := 0
	for _, n := range f.Model().Graph.Node {
		if n.GetOpType() == "Div" { // the place within a piece
			searches++
		}
	}
	if searches != 1 {
		t.Errorf("the place of a row within its piece is computed %d times", searches)
	}
}

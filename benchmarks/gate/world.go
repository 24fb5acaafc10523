package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// inputs is the number of columns x0, x1, ...; there is a response y besides.
const inputs = 10

func column(j int) string { return fmt.Sprintf("x%d", j) }

// xs are the columns of inputs.
func xs() (names []string) {
	for j := range inputs {
		names = append(names, column(j))
	}
	return names
}

// columns are standard normal rows and a response.
func columns(rows int) [][]float64 {
	random := rand.New(rand.NewPCG(1, 2))
	all := make([][]float64, inputs+1)
	for j := range all {
		all[j] = make([]float64, rows)
	}
	for i := range rows {
		for j := range inputs {
			all[j][i] = random.NormFloat64()
		}
		all[inputs][i] = all[0][i] + math.Sin(2*all[1][i]) + all[2][i]*all[3][i] + random.NormFloat64()
	}
	return all
}

// table panics if what it makes itself is refused.
func table(rows int) *data.Table {
	t := data.NewTable(rows)
	for j, x := range columns(rows) {
		name := "y"
		if j < inputs {
			name = column(j)
		}
		if err := t.AddNumeric(name, x); err != nil {
			panic(err)
		}
	}
	return t
}

// network is an MLP with 200 units in each of two layers.
func network(activation string, p onnx.Precision) (*onnx.Model, error) {
	const width = 200
	random := rand.New(rand.NewPCG(3, 4))
	b := onnxpb.NewBuilder(13)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, inputs)
	layer := func(in, out string, from, to int) {
		weights := make([]float64, from*to)
		for i := range weights {
			weights[i] = random.NormFloat64() * math.Sqrt(2/float64(from))
		}
		b.AddInit(out+".w", []int{from, to}, weights...)
		b.AddInit(out+".b", []int{to}, make([]float64, to)...)
		b.AddNode("Gemm", []string{in, out + ".w", out + ".b"}, out)
	}
	layer("x", "a", inputs, width)
	b.AddNode(activation, []string{"a"}, "fa")
	layer("fa", "b", width, width)
	b.AddNode(activation, []string{"b"}, "fb")
	layer("fb", "y", width, 1)
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	raw, err := b.Marshal()
	if err != nil {
		return nil, err
	}
	return bound(raw, p)
}

// additive is a neural additive model of networks 1-64-32-1, a sum.
func additive() ([]byte, error) {
	random := rand.New(rand.NewPCG(5, 6))
	b := onnxpb.NewBuilder(13)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, inputs)
	sum := ""
	for j := range inputs {
		name := column(j)
		b.AddInts(name+".at", int64(j))
		b.AddNode("Gather", []string{"x", name + ".at"}, name, onnxpb.Int("axis", 1))
		in, from := name, 1
		for l, to := range []int{64, 32, 1} {
			weights := make([]float64, from*to)
			for i := range weights {
				weights[i] = random.NormFloat64() * math.Sqrt(2/float64(from))
			}
			offsets := make([]float64, to)
			for i := range offsets {
				offsets[i] = random.NormFloat64()
			}
			out := fmt.Sprintf("%s.%d", name, l)
			b.AddInit(out+".w", []int{from, to}, weights...)
			b.AddInit(out+".b", []int{to}, offsets...)
			b.AddNode("Gemm", []string{in, out + ".w", out + ".b"}, out)
			if in, from = out, to; to > 1 {
				in += ".relu"
				b.AddNode("Relu", []string{out}, in)
			}
		}
		if sum == "" {
			sum = in
			continue
		}
		b.AddNode("Add", []string{sum, in}, "sum"+name)
		sum = "sum" + name
	}
	b.Output(sum, onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	return b.Marshal()
}

// bound is a network of the columns.
func bound(raw []byte, p onnx.Precision) (*onnx.Model, error) {
	g, err := onnx.Load(bytes.NewReader(raw), nil)
	if err != nil {
		return nil, err
	}
	return onnx.NewModel(g, onnx.Binding{{Input: "x", Columns: xs()}}, &onnx.Options{NoStructure: true, Engine: onnx.GoEngine{Precision: p}})
}

// predictions are a model by its predictions, the columns of their names.
type predictions []string

func (p predictions) Predictors() []string         { return p }
func (p predictions) Columns() []string            { return p }
func (p predictions) Intercept(int) float64        { return 0 }
func (p predictions) Blocks(int) []decompose.Block { return nil }
func (p predictions) Taps() map[string]int         { return nil }

func (p predictions) Forward(_ context.Context, dst *decompose.Outputs, b *data.Batch) error {
	for k, name := range p {
		x, err := b.Numeric(name)
		if err != nil {
			return err
		}
		dst.Zeta.SetCol(k, x)
		dst.Eta.SetCol(k, x)
	}
	return nil
}

// predicted are predictions of classes for standard normal columns and a factor g, and the table of all of them.
func predicted(rows, numbers, classes, levels int) (predictions, *data.Table) {
	random := rand.New(rand.NewPCG(7, 8))
	t := data.NewTable(rows)
	sums, text := make([][]float64, classes), make([]string, rows)
	var names predictions
	for k := range sums {
		sums[k] = make([]float64, rows)
		names = append(names, fmt.Sprintf("p%d", k))
	}
	for j := range numbers {
		x := make([]float64, rows)
		for i := range x {
			x[i] = random.NormFloat64()
			for k := range sums {
				sums[k][i] += math.Sin(x[i] * (1 + float64((j+k)%4)/2))
			}
		}
		if err := t.AddNumeric(column(j), x); err != nil {
			panic(err)
		}
	}
	for i := range text {
		level := random.IntN(levels)
		text[i] = strconv.Itoa(level)
		for k := range sums {
			sums[k][i] += math.Cos(float64(level + k))
		}
	}
	if err := t.AddTexts("g", text); err != nil {
		panic(err)
	}
	for k, name := range names {
		if err := t.AddNumeric(name, sums[k]); err != nil {
			panic(err)
		}
	}
	return names, t
}

// withSplines is a network with a P-spline of k columns for each input.
func withSplines(t *data.Table, k int) (decompose.Model, error) {
	m, err := network("Relu", onnx.Double)
	if err != nil {
		return nil, err
	}
	var terms []string
	for j := range inputs {
		terms = append(terms, fmt.Sprintf("s(%s, bs=\"ps\", k=%d)", column(j), k))
	}
	f, err := basis.Parse("~ "+strings.Join(terms, " + "), nil)
	if err != nil {
		return nil, err
	}
	blocks, err := decompose.Prepare(context.Background(), t, f.Specs, nil)
	if err != nil {
		return nil, err
	}
	return decompose.With(m, map[string][]decompose.Block{"": blocks})
}

func applier(t *data.Table) (*decompose.Applier, error) {
	m, err := withSplines(t, 20)
	if err != nil {
		return nil, err
	}
	r, err := decompose.Decompose(context.Background(), m, t, limited(2))
	if err != nil {
		return nil, err
	}
	return r.Applier(m)
}

func limited(workers int) *decompose.Options {
	return &decompose.Options{Resources: decompose.Resources{Workers: workers}}
}

func outputs(rows int) *decompose.Outputs {
	return &decompose.Outputs{Zeta: mat.NewDense(rows, 1, nil), Eta: mat.NewDense(rows, 1, nil)}
}

// csvFile is a file with the rows in all their digits, as programs write them. The process that
// asks for it leaves it in the directory for temporary files, from where the next takes it.
func csvFile(rows int) (string, error) {
	path := filepath.Join(os.TempDir(), fmt.Sprintf("pho-gate-%d.csv", rows))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	all := columns(rows)
	var out bytes.Buffer
	for j := range inputs {
		out.WriteString(column(j) + ",")
	}
	out.WriteString("y\n")
	var text []byte
	for i := range rows {
		text = text[:0]
		for j := range all {
			text = append(strconv.AppendFloat(text, all[j][i], 'g', -1, 64), ',')
		}
		text[len(text)-1] = '\n'
		out.Write(text)
	}
	return path, os.WriteFile(path, out.Bytes(), 0o666)
}

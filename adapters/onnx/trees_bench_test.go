package onnx_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/onnxpb"
	"gonum.org/v1/gonum/mat"
)

const benchFeatures = 28

// complete is an ensemble of complete trees on random features.
func complete(b *testing.B, trees, depth int) *onnx.Graph {
	r := rand.New(rand.NewPCG(1, 2))
	tr := new(graphtest.Trees)
	for k := range int64(trees) {
		for i := range int64(1)<<(depth+1) - 1 {
			if i < int64(1)<<depth-1 {
				tr.Branch(k, i, r.Int64N(benchFeatures), "BRANCH_LEQ", r.NormFloat64(), 2*i+1, 2*i+2)
			} else {
				tr.Leaf(k, i, r.NormFloat64())
			}
		}
	}
	m := onnxpb.NewBuilder(17)
	m.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, benchFeatures)
	tr.Regressor(m, "x", "y")
	m.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	g, err := onnx.Load(bytes.NewReader(graphtest.Bytes(b, m)), nil)
	if err != nil {
		b.Fatal(err)
	}
	return g
}

// Ensembles of complete trees: all rows, and one.
func BenchmarkTrees(b *testing.B) {
	const all, block = 65536, 256
	for _, c := range [][2]int{{100, 6}, {1000, 3}} {
		g := complete(b, c[0], c[1])
		e, err := onnx.GoEngine{}.Prepare(g, []string{"y"})
		if err != nil {
			b.Fatal(err)
		}
		r := rand.New(rand.NewPCG(3, 4))
		x, y := make([]float64, all*benchFeatures), make([]float64, all)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		for _, rows := range []int{all, 1} {
			b.Run(fmt.Sprintf("%dx%d/%d", c[0], c[1], rows), func(b *testing.B) {
				for b.Loop() {
					for from := 0; from < rows; from += block {
						to := min(from+block, rows)
						if err := e.Run([][]float64{y[from:to]}, [][]float64{x[from*benchFeatures : to*benchFeatures]}, to-from); err != nil {
							b.Fatal(err)
						}
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows)/float64(c[0]), "ns/row/tree")
			})
		}
	}
}

// What it costs to have the terms of an ensemble apart.
func BenchmarkSplitTrees(b *testing.B) {
	const rows = 16384
	for _, depth := range []int{1, 2, 3} {
		g := complete(b, 1000, depth)
		for _, o := range []*onnx.Options{{NoStructure: true}, {}} {
			m, err := onnx.NewModel(g, onnx.Unbound(g), o)
			if err != nil {
				b.Fatal(err)
			}
			r := rand.New(rand.NewPCG(3, 4))
			batch := data.NewBatch(rows, 0)
			for _, name := range m.Columns() {
				x := make([]float64, rows)
				for i := range x {
					x[i] = r.NormFloat64()
				}
				if err := batch.SetNumeric(name, x); err != nil {
					b.Fatal(err)
				}
			}
			out := &decompose.Outputs{Zeta: mat.NewDense(rows, 1, nil), Eta: mat.NewDense(rows, 1, nil), Taps: map[string]*mat.Dense{}}
			for name, width := range m.Taps() {
				out.Taps[name] = mat.NewDense(rows, width, nil)
			}
			b.Run(fmt.Sprintf("depth %d, %d terms", depth, len(m.Blocks(0))), func(b *testing.B) {
				for b.Loop() {
					if err := m.Forward(b.Context(), out, batch); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

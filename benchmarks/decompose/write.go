package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/pho-go/pho/benchmarks/internal/tocsv"
	"github.com/pho-go/pho/data/parquet"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// inputs is the number of columns x0, x1, ... of the data.
const inputs = 10

// binding is how they are a network's input; there is a response y besides.
const binding = "x=x0..x9"

// write draws standard normal rows, with a response, and makes the networks that run on them.
func write(dir string, rows int) error {
	f, err := os.Create(filepath.Join(dir, "rows.parquet"))
	if err != nil {
		return err
	}
	var names []string
	for j := range inputs {
		names = append(names, fmt.Sprintf("x%d", j))
	}
	w, err := parquet.NewWriter(f, append(names, "y"))
	if err != nil {
		return err
	}
	random, noise := rand.New(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(1, 3))
	columns := make([][]float64, inputs+1)
	for at := 0; at < rows; at += 1 << 16 {
		n := min(1<<16, rows-at)
		for j := range inputs {
			columns[j] = make([]float64, n)
			for i := range n {
				columns[j][i] = random.NormFloat64()
			}
		}
		columns[inputs] = make([]float64, n)
		for i := range n {
			columns[inputs][i] = columns[0][i] + math.Sin(columns[1][i]) + noise.NormFloat64()
		}
		if err := w.Write(columns); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := tocsv.Write(filepath.Join(dir, "rows.csv"), filepath.Join(dir, "rows.parquet"), 2); err != nil {
		return err
	}
	for _, n := range []network{{"mlp.onnx", 200, false}, {"wide.onnx", 400, false}, {"ssn.onnx", 200, true}} {
		raw, err := n.encode()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, n.file), raw, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// network is an MLP 10-width-width-1 with ReLU, as float32; structured: with linear
// effects of the inputs added, the smallest semi-structured network.
type network struct {
	file       string
	width      int
	structured bool
}

func (n network) encode() ([]byte, error) {
	random := rand.New(rand.NewPCG(3, 4))
	b := onnxpb.NewBuilder(13)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, inputs)
	layer := func(in, out string, from, to int) {
		weights, bias := make([]float64, from*to), make([]float64, to)
		for i := range weights {
			weights[i] = random.NormFloat64() * math.Sqrt(2/float64(from))
		}
		for i := range bias {
			bias[i] = random.NormFloat64() / 10
		}
		b.AddInit(out+".w", []int{from, to}, weights...)
		b.AddInit(out+".b", []int{to}, bias...)
		b.AddNode("Gemm", []string{in, out + ".w", out + ".b"}, out)
	}
	layer("x", "a", inputs, n.width)
	b.AddNode("Relu", []string{"a"}, "ra")
	layer("ra", "b", n.width, n.width)
	b.AddNode("Relu", []string{"b"}, "rb")
	last := "y"
	if n.structured {
		last = "deep"
		layer("x", "linear", inputs, 1)
	}
	layer("rb", last, n.width, 1)
	if n.structured {
		b.AddNode("Add", []string{"linear", "deep"}, "y")
	}
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	return b.Marshal()
}

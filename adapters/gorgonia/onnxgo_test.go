package gorgonia_test

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/gorgonia"
	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/onnxtest"
)

// TestNetworks: every network of PyTorch's that package onnx opens is, by onnx-go, right
// or refused by name, and never ends the process.
func TestNetworks(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "golden", "*", "*.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	zoo, err := filepath.Glob(filepath.Join("..", "..", "testdata", "zoo", "networks", "*", "*.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	right, refused := 0, map[string]int{}
	for _, file := range append(files, zoo...) {
		g, err := onnx.LoadFile(file, &onnx.LoadOptions{KeepFile: true})
		if err != nil {
			continue
		}
		var tensors []string
		for _, o := range g.Outputs() {
			tensors = append(tensors, o.Name)
		}
		if len(tensors) == 0 {
			continue
		}
		const rows = 20
		rng := rand.New(rand.NewPCG(1, 2))
		var inputs [][]float64
		for _, in := range g.Inputs() {
			x := make([]float64, rows*in.Width())
			for i := range x {
				if x[i] = float64(float32(rng.NormFloat64())); in.Type != "float" && in.Type != "double" {
					x[i] = float64(rng.IntN(2))
				}
			}
			inputs = append(inputs, x)
		}
		e := gorgonia.Engine{Rows: 8}
		if err := probe(e, g, tensors, inputs, rows); err != nil {
			reason := err.Error()
			for _, known := range []string{"gives outputs alone", "cannot be run", "cannot read", "cannot build", "sees", "ends in", "wrongly", "panics", "panic:", "does not depend", "node", "tensor"} {
				if strings.Contains(reason, known) {
					reason = known
					break
				}
			}
			refused[reason]++
			continue
		}
		right++
		if err := onnxtest.Engine(e, g, tensors, inputs, rows, 1e-4); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	t.Logf("%d right, refused: %v", right, refused)
	if right < 20 || refused["wrongly"] == 0 {
		t.Errorf("%d networks are right by onnx-go, refused are %v", right, refused)
	}
}

// probe runs rows once.
func probe(e onnx.Engine, g *onnx.Graph, tensors []string, inputs [][]float64, rows int) error {
	p, err := e.Prepare(g, tensors)
	if err != nil {
		return err
	}
	var dst [][]float64
	for _, o := range g.Outputs() {
		dst = append(dst, make([]float64, rows*o.Width()))
	}
	for i := range dst {
		for j := range dst[i] {
			dst[i][j] = math.NaN()
		}
	}
	return p.Run(dst, inputs, rows)
}

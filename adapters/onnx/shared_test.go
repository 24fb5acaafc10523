package onnx_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/onnxtest"
)

// waits takes its time for each row, and fails at some.
type waits struct {
	onnx.Evaluator
	bad float64
}

var errBad = errors.New("a bad row")

func (w waits) Run(dst, inputs [][]float64, rows int) error {
	for _, v := range inputs[0] {
		if v == w.bad {
			return errBad
		}
	}
	for range 40 {
		if err := w.Evaluator.Run(dst, inputs, rows); err != nil {
			return err
		}
	}
	return nil
}

// sharing prepares networks whose rows are shared.
type sharing struct{ onnx.GoEngine }

func (e sharing) Prepare(g *onnx.Graph, tensors []string) (onnx.Evaluator, error) {
	of, err := e.GoEngine.Prepare(g, tensors)
	if err != nil {
		return nil, err
	}
	return onnx.NewShared(of, 3), nil
}

func TestSharedConforms(t *testing.T) {
	g, err := onnx.LoadFile("../../testdata/golden/models/ssn_op13.onnx", nil)
	if err != nil {
		t.Fatal(err)
	}
	const rows = 700
	r := rand.New(rand.NewPCG(2, 9))
	x := make([]float64, 5*rows)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	if err := onnxtest.Engine(sharing{}, g, []string{g.Outputs()[0].Name}, [][]float64{x}, rows, 1e-14); err != nil {
		t.Error(err)
	}
}

// TestShared: rows have the bits of the Evaluator's own, whatever their number and that of
// goroutines, from one caller and from several; errors come through.
func TestShared(t *testing.T) {
	g, err := onnx.LoadFile("../../testdata/golden/models/ssn_op13.onnx", nil)
	if err != nil {
		t.Fatal(err)
	}
	name := g.Outputs()[0].Name
	e, err := onnx.GoEngine{}.Prepare(g, []string{name})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 9))
	const most = 1500
	x := make([]float64, 5*most)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	want := make([]float64, most)
	if err := e.Run([][]float64{want}, [][]float64{x}, most); err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{0, 1, 2, 3, 7} {
		s := onnx.NewShared(waits{e, 1e300}, workers)
		for range 2 { // the first calls tell how long a row takes
			for _, rows := range []int{most, 0, 1, 2, 31, 32, 255, 257, 1024} {
				got := make([]float64, rows)
				if err := s.Run([][]float64{got}, [][]float64{x[:5*rows]}, rows); err != nil || !slices.Equal(got, want[:rows]) {
					t.Fatalf("%d rows by %d: other bits, or %v", rows, workers, err)
				}
			}
		}
		var callers sync.WaitGroup
		for i := range 3 {
			callers.Go(func() {
				rows := 300 + 100*i
				got := make([]float64, rows)
				if err := s.Run([][]float64{got}, [][]float64{x[:5*rows]}, rows); err != nil || !slices.Equal(got, want[:rows]) {
					t.Errorf("%d rows of several callers: other bits, or %v", rows, err)
				}
			})
		}
		callers.Wait()
		bad := slices.Clone(x)
		bad[5*900+1] = 1e300
		if err := s.Run([][]float64{make([]float64, most)}, [][]float64{bad}, most); !errors.Is(err, errBad) {
			t.Errorf("%d workers: a bad row: %v", workers, err)
		}
		if err := s.Run([][]float64{make([]float64, 7)}, [][]float64{x[:50]}, 10); err == nil {
			t.Errorf("%d workers: 7 numbers for 10 rows", workers)
		}
		if err := s.RunTexts(nil, nil, nil, 1); err == nil {
			t.Errorf("%d workers: texts for who takes none", workers)
		}
		s.Close()
		s.Close()
		got := make([]float64, most)
		if err := s.Run([][]float64{got}, [][]float64{x}, most); err != nil || !slices.Equal(got, want) {
			t.Errorf("%d workers, closed: other bits, or %v", workers, err)
		}
	}
}

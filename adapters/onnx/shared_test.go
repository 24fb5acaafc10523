package onnx_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/adapters/onnx/onnxtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
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

// TestSharedRow: one row of a network whose layers are shared has the bits of one goroutine,
// whether calls follow each other closely or not, from several callers and when it is closed.
func TestSharedRow(t *testing.T) {
	g, err := onnx.LoadFile(wideNetwork(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := onnx.GoEngine{Precision: onnx.Single, NoMatrixUnits: true}.Prepare(g, []string{"y"})
	if err != nil {
		t.Fatal(err)
	}
	const rows = 300
	r := rand.New(rand.NewPCG(3, 9))
	x, want := make([]float64, 30*rows), make([]float64, rows)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	if err := e.Run([][]float64{want}, [][]float64{x}, rows); err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{1, 2, 3} {
		s := onnx.NewShared(e, workers)
		all := func() {
			got := make([]float64, rows)
			for i := range got {
				if err := s.Run([][]float64{got[i : i+1]}, [][]float64{x[30*i : 30*(i+1)]}, 1); err != nil {
					t.Error(err)
				}
				if i%100 == 99 {
					time.Sleep(time.Millisecond)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d workers: other bits", workers)
			}
		}
		all()
		var callers sync.WaitGroup
		for range 3 {
			callers.Go(all)
		}
		callers.Wait()
		s.Close()
		all()
	}
}

// wideNetwork is a file of a network whose weights, of float32, are 1.6 MB.
func wideNetwork(t *testing.T) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 9))
	b := onnxpb.NewBuilder(13)
	b.AddInput("x", graphtest.TFloat, onnxpb.Rows, 30)
	widths, at := []int{30, 512, 512, 256, 1}, "x"
	for i, n := range widths[1:] {
		k := widths[i]
		w := make([]float64, n*k)
		for j := range w {
			w[j] = rng.NormFloat64() / math.Sqrt(float64(k))
		}
		layer := fmt.Sprint("layer", i)
		b.AddInit(layer, []int{n, k}, w...)
		to := layer + "y"
		if i == len(widths)-2 {
			to = "y"
		}
		b.AddNode("Gemm", graphtest.In(at, layer), to, onnxpb.Int("transB", 1))
		if at = to; to != "y" {
			b.AddNode("Relu", graphtest.In(to), layer+"r")
			at = layer + "r"
		}
	}
	b.Output("y", graphtest.TFloat, onnxpb.Rows, 1)
	path := filepath.Join(t.TempDir(), "wide.onnx")
	if err := os.WriteFile(path, graphtest.Bytes(t, b), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

package kernel

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// FuzzTrain: the assembly of training gives the bits of the Go next to it, for any
// numbers (NaN, infinities, denormals), lengths and shapes.
func FuzzTrain(f *testing.F) {
	f.Add([]byte{1, 2, 3}, uint8(3), uint8(5))
	f.Add(binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.NaN())), uint8(9), uint8(33))
	f.Add(binary.LittleEndian.AppendUint64(nil, 0x0000000180000000), uint8(2), uint8(71))
	f.Fuzz(func(t *testing.T, raw []byte, rows, cols uint8) {
		fuzzTrain(t, raw, int(rows%40), int(cols%100), func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }, 8)
		fuzzTrain(t, raw, int(rows%40), int(cols%100), func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }, 4)
	})
}

func fuzzTrain[T Float](t *testing.T, raw []byte, rows, cols int, number func([]byte) T, size int) {
	if len(raw) == 0 || rows*cols == 0 {
		return
	}
	at := 0
	next := func(n int) []T {
		v := make([]T, n)
		var b [8]byte
		for i := range v {
			for j := range size {
				b[j] = raw[at%len(raw)] + byte(at/len(raw))
				at++
			}
			v[i] = number(b[:])
		}
		return v
	}
	n := rows * cols
	dy, y, sum, w, m, second := next(n), next(n), next(cols), next(n), next(n), next(n)
	for i := range second { // sums of squares
		second[i] = max(second[i], -second[i])
	}
	for i := range y {
		if i%3 == 0 {
			y[i] = 0
		}
	}
	var want [][]T
	for _, s := range supported() {
		a := &adam[T]{beta1: 0.9, c1: 0.1, beta2: 0.999, c2: 0.001, keep: 0.99, rate: 0.01, eps: 1e-8, tiny: 1e-30}
		got := [][]T{slices.Clone(w), slices.Clone(m), slices.Clone(second), make([]T, n), slices.Clone(sum), slices.Clone(sum), make([]T, n), make([]T, n), slices.Clone(dy)}
		adamStep(s, got[0], dy, got[1], got[2], a)
		reluGradRows(s, got[3], dy, y, got[4])
		addRows(s, got[5], dy)
		reluGrad(s, got[6], dy, y)
		reluGradRows(s, got[7], dy, y, nil)            // a bias that is held
		reluGradRows(s, got[8], got[8], y, got[5][:0]) // in place
		addRows(s, nil, dy)
		if s == plain {
			masked := wantReluGrad(dy, y)
			for _, k := range []int{3, 6, 7, 8} {
				sameBits(t, "masked gradient", got[k], masked)
			}
			sameBits(t, "its sum", got[4], wantSums(sum, masked))
			want = got
			continue
		}
		for k := range want {
			for i, v := range want[k] {
				if x := got[k][i]; x != v && (x == x || v == v) {
					t.Fatalf("%T, %d x %d: result %d, element %d is %v, in Go %v", v, rows, cols, k, i, x, v)
				}
			}
		}
	}
}

// TestGradRows compares with one row at a time.
func TestGradRows(t *testing.T) {
	dy, y := []float64{1, 2, 3, 4, 5, 6}, []float64{0, 1, 1, 1, 0, 1}
	dx, sum := make([]float64, 6), []float64{10, 20, 30}
	ReluGradRows(dx, dy, y, sum)
	if !slices.Equal(dx, []float64{0, 2, 3, 4, 0, 6}) || !slices.Equal(sum, []float64{14, 22, 39}) {
		t.Errorf("%v, sums %v", dx, sum)
	}
	AddRows(sum, dy)
	if !slices.Equal(sum, []float64{19, 29, 48}) {
		t.Errorf("sums %v", sum)
	}
	AddRows(sum, nil)
	AddRows(nil, []float64{})
}

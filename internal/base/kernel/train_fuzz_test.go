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
	dy, y, w, m, second := next(n), next(n), next(n), next(n), next(n)
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
		got := [][]T{slices.Clone(w), slices.Clone(m), slices.Clone(second), make([]T, n), slices.Clone(dy)}
		adamStep(s, got[0], dy, got[1], got[2], a)
		reluGrad(s, got[3], dy, y)
		reluGrad(s, got[4], got[4], y) // in place
		if s == plain {
			masked := wantReluGrad(dy, y)
			sameBits(t, "masked gradient", got[3], masked)
			sameBits(t, "in its place", got[4], masked)
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

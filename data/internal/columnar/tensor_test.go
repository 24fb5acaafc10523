package columnar

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestTurn: axis k of the row that is read is axis Order[k] of what is stored, round a cycle too.
func TestTurn(t *testing.T) {
	const rows = 2
	for _, order := range [][]int{nil, {0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		l := Layout{[]int{2, 3, 4}, order}
		v := make([]float64, rows*24)
		for i := range v {
			v[i] = float64(i)
		}
		l.Turn(v)
		shape, i := l.Read(), 0
		for r := range rows {
			for a := range shape[0] {
				for b := range shape[1] {
					for c := range shape[2] {
						at := []int{a, b, c}
						if order != nil {
							at[order[0]], at[order[1]], at[order[2]] = a, b, c
						}
						if want := float64(r*24 + at[0]*12 + at[1]*4 + at[2]); v[i] != want {
							t.Fatalf("order %v, number %d is %v, want %v", order, i, v[i], want)
						}
						i++
					}
				}
			}
		}
	}
}

// TestFixedShape: what an extension says of its rows has to fit their numbers.
func TestFixedShape(t *testing.T) {
	for said, want := range map[string]string{
		`{"shape":[2,3]}`: "",
		`{"shape":[2,3],"permutation":[0,1],"dim_names":["a","b"]}`: "",
		`{"shape":[3,2],"permutation":[1,0]}`:                       "",
		`{"shape":[2,4]}`:                                           "the shape of its rows is [2 4], and they have 6 numbers",
		`{"shape":[]}`:                                              "the shape of its rows is []",
		`{"shape":[-2,-3]}`:                                         "the shape of its rows is [-2 -3]",
		`{"shape":[4294967296,4294967296]}`:                         "the shape of its rows is [4294967296 4294967296]",
		`{"shape":[2,3],"permutation":[1,1]}`:                       "the permutation of its axes is none",
		`{"shape":[2,3],"permutation":[0]}`:                         "the permutation of its axes is none",
		`{"shape":`:                                                 "cannot be read",
	} {
		l, err := FixedShape(said, 6)
		if want == "" && (err != nil || !slices.Equal(l.Read(), []int{2, 3})) {
			t.Errorf("%s: %v, %v", said, l, err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", said, err, want)
		}
	}
}

// TestFaultsOfTensors: a number that is missing is named by its place, as NumPy has it.
func TestFaultsOfTensors(t *testing.T) {
	f := Field{Kind: Tensor, Width: 24, Shape: []int{2, 3, 4}}
	v := Values{Tensor: mat.NewDense(2, 24, nil)}
	v.Tensor.Set(1, 12+2*4+3, math.NaN())
	fault := v.fault(f, func(int) bool { return false })
	if fault == nil || fault.Row != 1 || !strings.HasPrefix(fault.Reason, "at [1 2 3] marks a missing value") {
		t.Errorf("%+v", fault)
	}
}

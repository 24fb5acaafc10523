package piecewise

import (
	"slices"

	"github.com/pho-go/pho/internal/base/kernel"
)

// bucketsPerPiece and fewPieces bound the search for a piece: a bucket holds one end of a piece or none,
// mostly, and one that holds many is halved until few are left.
const (
	bucketsPerPiece = 4
	fewPieces       = 6
)

// Table is a Function prepared to be computed, for rows of T; it is immutable.
type Table[T kernel.Float] struct {
	f        *Function
	outputs  int
	lo, wide T       // buckets are of equal width from lo on: 1/wide
	first    []int32 // piece of each bucket; one more for their end
	// rows are pieces: where it ends, its center, values there, slopes.
	rows []T
}

// NewTable prepares f.
func NewTable[T kernel.Float](f *Function) *Table[T] {
	m := f.Outputs()
	t := &Table[T]{f: f, outputs: m}
	ends := make([]T, len(f.breaks))
	for j, b := range f.breaks {
		ends[j] = T(b)
	}
	buckets := bucketsPerPiece * len(f.centers)
	if n := len(ends); n > 0 { // those far out, behind which little changes, leave the buckets to the others
		lo, hi := ends[n/16], ends[n-1-n/16]
		t.lo = lo
		if hi > lo {
			t.wide = T(buckets) / (hi - lo)
		}
		if !(t.wide <= Limit) {
			t.wide = 0
		}
	}
	t.first = make([]int32, buckets+1)
	for b := range t.first {
		t.first[b], _ = int32Search(ends, func(e T) bool { return t.bucket(e) >= b })
	}
	t.first[buckets] = int32(len(ends))
	for j, center := range f.centers {
		end := T(2 * Limit)
		if j < len(ends) {
			end = ends[j]
		}
		c := T(center)
		t.rows = append(t.rows, end, c)
		v, s := f.values[j*m:][:m], f.slopes[j*m:][:m]
		for i := range v {
			t.rows = append(t.rows, T(v[i]+s[i]*(float64(c)-center)))
		}
		for i := range s {
			t.rows = append(t.rows, T(s[i]))
		}
	}
	return t
}

func int32Search[T any](list []T, from func(T) bool) (int32, bool) {
	k, found := slices.BinarySearchFunc(list, true, func(e T, _ bool) int {
		if from(e) {
			return 1
		}
		return -1
	})
	return int32(k), found
}

// bucket does not fall with x, so that ends of pieces in buckets before that of x are before x.
func (t *Table[T]) bucket(x T) int {
	b := (x - t.lo) * t.wide
	if last := len(t.first) - 2; !(b < T(last)) {
		return last
	}
	if b < 0 {
		return 0
	}
	return int(b)
}

// piece is that of x, which is not beyond Limit.
func (t *Table[T]) piece(x T) int {
	stride := 2 + 2*t.outputs
	b := t.bucket(x)
	k, end := int(t.first[b]), int(t.first[b+1])
	for end-k > fewPieces {
		if mid := (k + end) / 2; x > t.rows[mid*stride] {
			k = mid + 1
		} else {
			end = mid
		}
	}
	for x > t.rows[k*stride] {
		k++
	}
	return k
}

// Eval sets n rows of dst, ldd apart, to the function of x, whose numbers are ldx apart.
func (t *Table[T]) Eval(dst []T, ldd int, x []T, ldx, n int) {
	m := t.outputs
	for r := range n {
		v, out := x[r*ldx], dst[r*ldd:][:m]
		if !(v <= Limit && v >= -Limit) {
			t.layers(out, v)
			continue
		}
		k := t.piece(v) * (2 + 2*m)
		row := t.rows[k:][:2+2*m]
		d := v - row[1]
		if m == 1 {
			out[0] = row[2] + row[3]*d
			continue
		}
		values, slopes := row[2:][:m], row[2+m:][:m]
		for i := range out {
			out[i] = values[i] + slopes[i]*d
		}
	}
}

// layers is Eval of a number that no piece holds.
func (t *Table[T]) layers(out []T, x T) {
	y := make([]float64, len(out))
	t.f.dense(y, float64(x))
	for i, v := range y {
		out[i] = T(v)
	}
}

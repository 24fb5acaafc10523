package kernel

import (
	"math"
	"unsafe"
)

// In two shapes of products most of a tile would be empty: rows times one column, and one
// column times one row. They have kernels of their own.

// column is the argument of the assembly that multiplies rows of A by a column,
// four rows at a time. The assembly knows the offsets of the fields.
type column[T Float] struct {
	a           unsafe.Pointer // first row
	rs          uintptr        // bytes between rows; 0 repeats one
	w           unsafe.Pointer // k values
	k           uintptr
	c           unsafe.Pointer // four results for each group, dense
	groups      uintptr
	bias, least T // added last; smaller results become the least
}

// rankOne is the argument of the assembly that computes C = X + a w', one
// multiply-add for each element.
type rankOne[T Float] struct {
	a    unsafe.Pointer // the column
	as   uintptr        // bytes between its values
	w    unsafe.Pointer // the row, in whole vectors
	x    unsafe.Pointer // initial values, the same for all rows, or nil for 0
	c    unsafe.Pointer
	cs   uintptr // bytes between its rows
	rows uintptr
	cols uintptr // four vectors, or 1 to one
	// Results below it become least.
	least T
}

// least is the smallest value that a result may have: 0 with Relu, else -Inf.
func least[T Float](relu bool) T {
	if relu {
		return 0
	}
	return T(math.Inf(-1))
}

// sumLanes is the number of partial sums of a product with weights of one column: 64 bytes
// of them on every machine. Product l goes to sum l mod sumLanes; then the upper
// half of the sums is added to the lower half until one is left, and the bias to
// that.
func sumLanes[T Float]() int { return 64 / sizeOf[T]() }

// MulColumn sets c (n values) to a (n x len(w), row stride lda) times w: the bits of Mul
// with weights of one column.
func MulColumn[T Float](c, a []T, lda, n int, w []T) {
	if n == 0 {
		return
	}
	within("a", len(a), n, len(w), lda)
	mulColumn(best(), c[:n], 1, a, lda, n, w, 0, false)
}

// mulColumn sets c (m values, ldc apart) to a (m x len(w)) times w plus bias.
func mulColumn[T Float](s isa, c []T, ldc int, a []T, lda, m int, w []T, bias T, relu bool) {
	if len(w) == 0 {
		a, lda = nil, 0 // a may be shorter than its rows would be
	}
	if s == plain {
		for i := range m {
			c[i*ldc] = rectified(sumColumn(a[i*lda:], w)+bias, relu)
		}
		return
	}
	size := uintptr(sizeOf[T]())
	t := column[T]{w: at(w, 0), k: uintptr(len(w)), bias: bias, least: least[T](relu)}
	var buf [64]T
	for i := 0; i < m; {
		t.a, t.rs = at(a, i*lda), uintptr(lda)*size
		rows, to := m-i, buf[:]
		switch {
		case rows < 4: // the others of the group are the same row
			rows, t.rs, t.groups = 1, 0, 1
		case ldc == 1:
			rows, to = rows/4*4, c[i:]
			t.groups = uintptr(rows / 4)
		default:
			rows = min(rows/4*4, len(buf))
			t.groups = uintptr(rows / 4)
		}
		t.c = at(to, 0)
		runColumn(s, &t)
		if &to[0] == &buf[0] {
			for j, x := range buf[:rows] {
				c[(i+j)*ldc] = x
			}
		}
		i += rows
	}
}

// sumColumn is the sum of a[l]*w[l] in the order of sumLanes.
func sumColumn[T Float](a, w []T) T {
	var sums [16]T
	lanes := sumLanes[T]()
	a = a[:len(w)]
	for len(w) > 0 {
		n := min(lanes, len(w))
		for l, x := range w[:n] {
			sums[l] += T(x * a[l])
		}
		a, w = a[n:], w[n:]
	}
	for half := lanes / 2; half > 0; half /= 2 {
		for l := range half {
			sums[l] += sums[l+half]
		}
	}
	return sums[0]
}

func rectified[T Float](x T, relu bool) T {
	if relu && x < 0 {
		return 0
	}
	return x
}

// mulRankOne is mul for K = 1.
func (w *Weights[T]) mulRankOne(c []T, ldc int, a []T, lda, m int, bias []T, relu bool) {
	size, lanes := uintptr(sizeOf[T]()), lanes[T](w.isa)
	t := rankOne[T]{a: at(a, 0), as: uintptr(lda) * size, cs: uintptr(ldc) * size, rows: uintptr(m), least: least[T](relu)}
	for j := 0; j < w.N; j += int(t.cols) {
		if t.cols = uintptr(4 * lanes); w.N-j < 4*lanes {
			t.cols = uintptr(min(lanes, w.N-j))
		}
		t.w, t.c = at(w.data, j), at(c, j)
		if bias != nil {
			t.x = at(bias, j)
		}
		runRankOne(w.isa, &t)
	}
}

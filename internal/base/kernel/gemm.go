package kernel

import (
	"fmt"
	"math"
	"unsafe"
)

// Weights is a K x N matrix prepared once for many products A*W.
type Weights[T Float] struct {
	K, N   int
	isa    isa
	finite bool
	skips  bool // products with 0
	apart  int  // numbers from one panel to the next
	// data holds the rows one after another if isa is plain, else panels: two
	// vectors of columns each, row by row, the last filled up with zeros to
	// whole vectors; but one column is as it is.
	data []T
}

// Pack prepares w: row-major k x n, or n x k if trans. Without trans w may be used without
// a copy, so it must not change afterwards.
func Pack[T Float](k, n int, w []T, trans bool) *Weights[T] {
	return packWeights(best(), k, n, w, trans)
}

func packWeights[T Float](s isa, k, n int, w []T, trans bool) *Weights[T] {
	w = w[:k*n]
	p := &Weights[T]{K: k, N: n, isa: s, finite: true}
	switch {
	case n == 1:
		p.data = aligned[T](k)
		copy(p.data, w)
		return p
	case s != plain:
		p.apart = panelsApart[T](s, k)
		p.data = panels(s, p.apart, k, n, w, trans)
		return p
	}
	p.data = w
	if trans {
		p.data = make([]T, k*n)
		for j := range n {
			for l := range k {
				p.data[l*n+j] = w[j*k+l]
			}
		}
	}
	for _, x := range p.data {
		// x - x is 0 for finite x, NaN otherwise.
		p.finite = p.finite && x-x == 0
	}
	return p
}

// panelsApart is how many numbers one panel of k rows begins behind the other. Panels that
// are added up side by side must not be a multiple of a page apart: their rows would share
// the same sets of the first cache.
func panelsApart[T Float](s isa, k int) int {
	const page, line = 4096, 64
	panel := k * 2 * lanes[T](s)
	if panel > 0 && panel*sizeOf[T]()%page == 0 {
		panel += line / sizeOf[T]()
	}
	return panel
}

// panels copies w to panels.
func panels[T Float](s isa, apart, k, n int, w []T, trans bool) []T {
	nr := 2 * lanes[T](s)
	tail := 0
	if n%nr != 0 {
		tail = panelWidth[T](s, n%nr)
	}
	data := aligned[T](n/nr*apart + k*tail)
	for j := 0; j < n && k > 0; j += nr {
		cols, panel := min(nr, n-j), data[j/nr*apart:]
		if !trans {
			runPack[T](s, &pack{dst: at(panel, 0), src: at(w, j), ss: uintptr(n * sizeOf[T]()), rows: uintptr(k), cols: uintptr(cols)})
			continue
		}
		transpose(s, panel, panelWidth[T](s, cols), w[j*k:(j+cols)*k], k, cols, k)
	}
	return data
}

// Scale multiplies the matrix by a; the data given to Pack stays as it was.
func (w *Weights[T]) Scale(a T) {
	scaled := aligned[T](len(w.data))
	for i, x := range w.data {
		scaled[i] = a * x
	}
	w.data = scaled
	w.finite = w.finite && !math.IsInf(float64(a), 0) && !math.IsNaN(float64(a))
}

// Mul sets c (m x N, row stride ldc) to a (m x K, row stride lda) times W plus
// bias in every row; bias of length N, or nil for 0. c overlaps neither a nor bias. Rows of a
// may overlap: lda may be less than K.
func (w *Weights[T]) Mul(c []T, ldc int, a []T, lda, m int, bias []T) {
	w.mul(c, ldc, a, lda, m, bias, false, nil)
}

// MulRelu is Mul followed by Relu on c, in one pass over c.
func (w *Weights[T]) MulRelu(c []T, ldc int, a []T, lda, m int, bias []T) {
	w.mul(c, ldc, a, lda, m, bias, true, nil)
}

// MulAhead is Mul, or MulRelu, while next is fetched from memory to the first cache, for
// whoever reads that afterwards.
func (w *Weights[T]) MulAhead(c []T, ldc int, a []T, lda, m int, bias []T, relu bool, next []float64) {
	w.mul(c, ldc, a, lda, m, bias, relu, aheadOf(next))
}

// MulOnto is Mul, or MulRelu, with sums that begin at the rows of x (m x N, row stride ldx) in place of a
// bias. c does not overlap x.
func (w *Weights[T]) MulOnto(c []T, ldc int, a []T, lda, m int, x []T, ldx int, relu bool) {
	switch {
	case m == 0 || w.N == 0:
		return
	case m == 1:
		w.mul(c, ldc, a, lda, 1, x, relu, nil)
		return
	}
	within("c", len(c), m, w.N, ldc)
	within("a", len(a), m, w.K, lda)
	within("x", len(x), m, w.N, ldx)
	switch {
	case w.isa != plain && w.N > 1:
		w.mulTiles(c, ldc, a, lda, m, x, ldx, relu, nil)
	default:
		for i := range m {
			w.mul(c[i*ldc:], ldc, a[i*lda:], lda, 1, x[i*ldx:], relu, nil)
		}
	}
}

func (w *Weights[T]) mul(c []T, ldc int, a []T, lda, m int, bias []T, relu bool, meanwhile *ahead) {
	if m == 0 || w.N == 0 {
		return
	}
	within("c", len(c), m, w.N, ldc)
	within("a", len(a), m, w.K, lda)
	if bias != nil {
		bias = bias[:w.N]
	}
	switch {
	case w.N == 1:
		var b T
		if bias != nil {
			b = bias[0]
		}
		mulColumn(w.isa, c, ldc, a, lda, m, w.data, b, relu)
		return
	case w.isa != plain && w.K == 1:
		w.mulRankOne(c, ldc, a, lda, m, bias, relu)
		return
	case w.isa != plain && m == 1 && w.K > 0:
		w.mulLine(c, a, bias, relu)
		return
	case w.isa != plain:
		w.mulTiles(c, ldc, a, lda, m, bias, 0, relu, meanwhile)
		return
	}
	for i := range m {
		row := c[i*ldc : i*ldc+w.N]
		if bias == nil {
			clear(row)
		} else {
			copy(row, bias)
		}
	}
	w.mulPlain(c, ldc, a, lda, m, anyNegativeZero(bias))
	if relu {
		for i := range m {
			row := c[i*ldc : i*ldc+w.N]
			Relu(row, row)
		}
	}
}

// within panics unless n values hold rows x cols of them with row stride ld: the assembly
// does not check.
func within(name string, n, rows, cols, ld int) {
	if cols > 0 && (ld < 0 || n < cols || rows > 1 && ld > (n-cols)/(rows-1)) {
		panic(fmt.Sprintf("kernel: %s has %d values for %d rows of %d, %d apart", name, n, rows, cols, ld))
	}
}

// mulTiles goes through blocks of rows, then of k, then through the panels: a
// panel stays in the first cache while the block's rows pass by. Rows of bias are ldb apart; 0: one is for
// all.
func (w *Weights[T]) mulTiles(c []T, ldc int, a []T, lda, m int, bias []T, ldb int, relu bool, meanwhile *ahead) {
	size := uintptr(sizeOf[T]())
	nr, kc := 2*lanes[T](w.isa), kStep(w.K)
	t := tile{rs: uintptr(lda) * size, ks: size, cs: uintptr(ldc) * size}
	if w.K == 0 {
		t.rs = 0 // a may be empty: its pointer stays nil
	}
	block := rowBlock
	skips := w.skips && meanwhile == nil && ldb == 0
	if skips {
		block = min(block, manyMasks/w.chunks())
	}
	for i := 0; i < m; i += block {
		rows, first := min(block, m-i), 0
		if skips {
			first = w.mulSparse(c[i*ldc:], ldc, a[i*lda:], lda, rows, bias, relu)
		}
		// Once even if K is 0: every element gets its initial value.
		for l := 0; ; l += kc {
			t.k = uintptr(min(kc, w.K-l))
			last := l+kc >= w.K
			t.relu = 0
			if relu && last {
				t.relu = 1
			}
			if w.K > 0 {
				t.a = at(a, i*lda+l)
			}
			for j := first; j < w.N; j += nr {
				cols := min(nr, w.N-j)
				width := panelWidth[T](w.isa, cols)
				t.cols, t.bs = uintptr(cols), uintptr(width)*size
				t.b = at(w.data, j/nr*w.apart+l*width)
				t.c = at(c, i*ldc+j)
				switch {
				case l > 0:
					t.x, t.xs = t.c, t.cs
				case bias != nil:
					t.x, t.xs = at(bias, i*ldb+j), uintptr(ldb)*size
				default:
					t.x, t.xs = nil, 0
				}
				tileColumn[T](w.isa, t, rows, meanwhile)
			}
			if last {
				break
			}
		}
	}
}

// Gemm sets c = a (m x k) times b (k x n), all row-major and dense: for operands that cannot
// be prepared beforehand. c overlaps neither. Every sum is in order of k, that of a single
// column too, because columns of b may be rows of data, of which there may be any number.
func Gemm[T Float](c, a, b []T, m, n, k int) { gemm(best(), c, a, b, m, n, k) }

func gemm[T Float](s isa, c, a, b []T, m, n, k int) {
	c, a, b = c[:m*n], a[:m*k], b[:k*n]
	if s == plain || k == 0 {
		clear(c)
		gemmPlain(c, n, a, k, b, m, n, k)
		return
	}
	if len(c) == 0 {
		return
	}
	if kStep(k)*panelWidth[T](s, n)*sizeOf[T]() <= smallPanel*8 {
		gemmSmall(s, c, a, b, m, n, k)
	} else {
		gemmLarge(s, c, a, b, m, n, k)
	}
}

// Values in the memory for one panel of B: the stack, for a call must not
// allocate, and small products should not clear much of it.
const (
	smallPanel = 512
	largePanel = kBlock * 2 * 64 / 8
)

func gemmSmall[T Float](s isa, c, a, b []T, m, n, k int) {
	var buf [smallPanel + 8]float64
	gemmTiles(s, c, a, b, m, n, k, scratch[T](buf[:]))
}

func gemmLarge[T Float](s isa, c, a, b []T, m, n, k int) {
	var buf [largePanel + 8]float64
	gemmTiles(s, c, a, b, m, n, k, scratch[T](buf[:]))
}

// scratch is buf as Ts, from a whole vector on.
func scratch[T Float](buf []float64) []T {
	off := -uintptr(unsafe.Pointer(&buf[0])) % 64 / 8
	buf = buf[off : off+uintptr(len(buf))-8]
	return unsafe.Slice((*T)(unsafe.Pointer(&buf[0])), len(buf)*8/sizeOf[T]())
}

func gemmTiles[T Float](s isa, c, a, b []T, m, n, k int, panel []T) {
	size := uintptr(sizeOf[T]())
	nr, kc := 2*lanes[T](s), kStep(k)
	t := tile{rs: uintptr(k) * size, ks: size, b: at(panel, 0), cs: uintptr(n) * size}
	// Panels are packed again for every block of rows: it may be larger here, if the
	// second cache holds it; of rows 4096 bytes apart it uses half of its sets only.
	block := 2 * rowBlock * 4 / sizeOf[T]()
	for i := 0; i < m; i += block {
		for l := 0; l < k; l += kc {
			t.k = uintptr(min(kc, k-l))
			t.a = at(a, i*k+l)
			for j := 0; j < n; j += nr {
				cols := min(nr, n-j)
				t.cols, t.bs = uintptr(cols), uintptr(panelWidth[T](s, cols))*size
				runPack[T](s, &pack{dst: t.b, src: at(b, l*n+j), ss: t.cs, rows: t.k, cols: t.cols})
				t.c = at(c, i*n+j)
				if l > 0 {
					t.x, t.xs = t.c, t.cs
				} else {
					t.x, t.xs = nil, 0
				}
				tileColumn[T](s, t, min(block, m-i), nil)
			}
		}
	}
}

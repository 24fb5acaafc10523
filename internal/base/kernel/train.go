package kernel

import (
	"math"
	"unsafe"
)

// Products and loops of backward passes and optimisers.

// AddTransMul adds A'B to c (p x q, row stride ldc): a (n x p, row stride lda),
// b (n x q, row stride ldb). Every element is summed in row order, whatever p
// and q: gradients do not depend on how columns are shared out among workers.
// c overlaps no operand.
func AddTransMul[T Float](c []T, ldc int, a []T, lda, p int, b []T, ldb, q, n int) {
	addTransMul(best(), c, ldc, a, lda, p, b, ldb, q, n)
}

func addTransMul[T Float](s isa, c []T, ldc int, a []T, lda, p int, b []T, ldb, q, n int) {
	if p == 0 || q == 0 || n == 0 {
		return
	}
	within("c", len(c), p, q, ldc)
	within("a", len(a), n, p, lda)
	within("b", len(b), n, q, ldb)
	if s == plain {
		for i := range n {
			rb := b[i*ldb:][:q]
			for j, x := range a[i*lda:][:p] {
				rc := c[j*ldc:][:q]
				for k, y := range rb {
					rc[k] += T(x * y)
				}
			}
		}
		return
	}
	// A panel on the stack is cleared first: small batches get a small one.
	if min(n, kBlock)*panelWidth[T](s, q)*sizeOf[T]() <= smallPanel*8 {
		var buf [smallPanel + 8]float64
		addTransTiles(s, c, ldc, a, lda, p, b, ldb, q, n, scratch[T](buf[:]))
	} else {
		var buf [largePanel + 8]float64
		addTransTiles(s, c, ldc, a, lda, p, b, ldb, q, n, scratch[T](buf[:]))
	}
}

func addTransTiles[T Float](s isa, c []T, ldc int, a []T, lda, p int, b []T, ldb, q, n int, panel []T) {
	size := uintptr(sizeOf[T]())
	nr := 2 * lanes[T](s)
	t := tile{rs: size, ks: uintptr(lda) * size, b: at(panel, 0), cs: uintptr(ldc) * size, xs: uintptr(ldc) * size}
	for i := 0; i < n; i += kBlock {
		t.k = uintptr(min(kBlock, n-i))
		t.a = at(a, i*lda)
		for j := 0; j < q; j += nr {
			cols := min(nr, q-j)
			t.cols, t.bs = uintptr(cols), uintptr(panelWidth[T](s, cols))*size
			runPack[T](s, &pack{dst: t.b, src: at(b, i*ldb+j), ss: uintptr(ldb) * size, rows: t.k, cols: t.cols})
			t.c = at(c, j)
			t.x = t.c
			tileColumn[T](s, t, p, nil)
		}
	}
}

// ReluGrad sets dx = dy where y, the output of Relu, is not 0, and 0 elsewhere. dx
// may be dy.
func ReluGrad[T Float](dx, dy, y []T) { reluGrad(best(), dx, dy, y) }

func reluGrad[T Float](s isa, dx, dy, y []T) {
	dx, dy = dx[:len(y)], dy[:len(y)]
	if n := len(y) - len(y)%lanes[T](avx2); n > 0 && s != plain {
		runReluGrad(&loop[T]{dst: at(dx, 0), a: at(dy, 0), b: at(y, 0), n: uintptr(n)})
		dx, dy, y = dx[n:], dy[n:], y[n:]
	}
	reluGradPlain(dx, dy, y)
}

// reluGradPlain has no branches: which units are on is a coin toss to the
// processor.
func reluGradPlain[T Float](dx, dy, y []T) {
	switch y := any(y).(type) {
	case []float32:
		dx, dy := any(dx).([]float32), any(dy).([]float32)
		for i, v := range y {
			off := math.Float32bits(v) & (1<<31 - 1)
			on := uint32(int32(-off) >> 31) // all ones if v is not 0
			dx[i] = math.Float32frombits(math.Float32bits(dy[i]) & on)
		}
	case []float64:
		dx, dy := any(dx).([]float64), any(dy).([]float64)
		for i, v := range y {
			off := math.Float64bits(v) & (1<<63 - 1)
			on := uint64(int64(-off) >> 63)
			dx[i] = math.Float64frombits(math.Float64bits(dy[i]) & on)
		}
	}
}

// adam is the argument of the assembly that takes a step of Adam on n numbers,
// whole vectors of them. It knows the offsets of the fields.
type adam[T Float] struct {
	w, g, m, v unsafe.Pointer
	n          uintptr
	// c1 and c2 are 1 less beta1 and beta2, keep is 1 less decay.
	beta1, c1, beta2, c2, keep, rate, eps, tiny T
}

// AdamStep is one step of Adam (Kingma and Ba 2015): moments m and v take the
// gradient g, the values w move by rate m/(sqrt(v) + eps). The caller folds the
// bias corrections into rate and eps. decay is AdamW's: w shrinks by it first.
// Moments that no longer matter (below 1e-30) become 0: arithmetic on denormal
// numbers is slow. No bit depends on where the slices are cut.
func AdamStep[T Float](w, g, m, v []T, beta1, beta2, rate, eps, decay T) {
	adamStep(best(), w, g, m, v, &adam[T]{beta1: beta1, c1: 1 - beta1, beta2: beta2, c2: 1 - beta2, keep: 1 - decay, rate: rate, eps: eps, tiny: 1e-30})
}

func adamStep[T Float](s isa, w, g, m, v []T, a *adam[T]) {
	n := len(w)
	g, m, v = g[:n], m[:n], v[:n]
	if k := n - n%lanes[T](s); k > 0 && s != plain {
		a.w, a.g, a.m, a.v, a.n = at(w, 0), at(g, 0), at(m, 0), at(v, 0), uintptr(k)
		runAdam(s, a)
		w, g, m, v = w[k:], g[k:], m[k:], v[k:]
	}
	for i, gi := range g {
		// T(x*y) keeps the compiler from fusing, so that all paths round alike.
		mi := T(a.beta1*m[i]) + T(a.c1*gi)
		vi := T(a.beta2*v[i]) + T(T(a.c2*gi)*gi)
		if mi < a.tiny && mi > -a.tiny {
			mi = 0
		}
		if vi < a.tiny {
			vi = 0
		}
		m[i], v[i] = mi, vi
		w[i] = T(a.keep*w[i]) - T(T(a.rate*mi)/(sqrt(vi)+a.eps))
	}
}

func sqrt[T Float](x T) T {
	if v, ok := any(x).(float32); ok {
		return T(float32(math.Sqrt(float64(v)))) // one instruction in float32
	}
	return T(math.Sqrt(float64(x)))
}

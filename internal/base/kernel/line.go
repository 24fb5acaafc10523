package kernel

import "unsafe"

// line is the argument of the assembly that multiplies one row by panels side by side.
// A tile of one row has too few sums to keep the processor busy. The assembly knows the
// offsets of the fields.
type line struct {
	a      unsafe.Pointer // k values
	b      unsafe.Pointer // the first panel, of two whole vectors a row
	ps     uintptr        // bytes between panels
	k      uintptr        // at least 1
	x      unsafe.Pointer // initial values, or nil for 0
	c      unsafe.Pointer
	panels uintptr // 2 or 4
	relu   uintptr // not 0: negative results become 0
}

// Bytes is how much memory the prepared matrix takes.
func (w *Weights[T]) Bytes() int { return len(w.data) * sizeOf[T]() }

// MulPart is part i of n of Mul, or MulRelu, for one row: some of its columns. All parts, in any
// order or at once, give the bits of the whole.
func (w *Weights[T]) MulPart(c, a, bias []T, relu bool, i, n int) {
	if w.isa == plain || w.K < 2 || w.N < 2 {
		if i == 0 {
			w.mul(c, w.N, a, w.K, 1, bias, relu, nil)
		}
		return
	}
	c, a = c[:w.N], a[:w.K]
	if bias != nil {
		bias = bias[:w.N]
	}
	group := 4 * 2 * lanes[T](w.isa) // columns that run side by side
	groups := (w.N + group - 1) / group
	w.mulLine(c, a, bias, relu, i*groups/n*group, min((i+1)*groups/n*group, w.N))
}

// mulLine is mul for one row, of columns from to end-1: the sums of mulTiles in the same order. from
// begins a panel, end ends one.
func (w *Weights[T]) mulLine(c, a []T, bias []T, relu bool, from, end int) {
	size, nr := uintptr(sizeOf[T]()), 2*lanes[T](w.isa)
	l := line{a: at(a, 0), ps: uintptr(w.apart) * size, k: uintptr(w.K)}
	if relu {
		l.relu = 1
	}
	if w.skips {
		from = w.lineNonzeros(c, a, bias, relu, from, end)
	}
	for j := from; j < end; {
		l.b, l.c = at(w.data, j/nr*w.apart), at(c, j)
		if bias != nil {
			l.x = at(bias, j)
		}
		switch whole := (end - j) / nr; {
		case whole >= 4:
			l.panels = 4
		case whole >= 2:
			l.panels = 2
		default:
			cols := min(nr, end-j)
			t := tile{a: l.a, ks: size, b: l.b, bs: uintptr(panelWidth[T](w.isa, cols)) * size, k: l.k, x: l.x, c: l.c, rows: 1, cols: uintptr(cols), relu: l.relu}
			runTile[T](w.isa, &t)
			j += cols
			continue
		}
		runLine[T](w.isa, &l)
		j += int(l.panels) * nr
	}
}

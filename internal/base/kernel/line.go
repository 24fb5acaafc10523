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

// mulLine is mul for one row: the sums of mulTiles in the same order.
func (w *Weights[T]) mulLine(c, a []T, bias []T, relu bool) {
	size, nr := uintptr(sizeOf[T]()), 2*lanes[T](w.isa)
	l := line{a: at(a, 0), ps: uintptr(w.apart) * size, k: uintptr(w.K)}
	if relu {
		l.relu = 1
	}
	j := 0
	if w.skips {
		j = w.lineNonzeros(c, a, bias, relu, 0, w.N)
	}
	for j < w.N {
		l.b, l.c = at(w.data, j/nr*w.apart), at(c, j)
		if bias != nil {
			l.x = at(bias, j)
		}
		switch whole := (w.N - j) / nr; {
		case whole >= 4:
			l.panels = 4
		case whole >= 2:
			l.panels = 2
		default:
			cols := min(nr, w.N-j)
			t := tile{a: l.a, ks: size, b: l.b, bs: uintptr(panelWidth[T](w.isa, cols)) * size, k: l.k, x: l.x, c: l.c, rows: 1, cols: uintptr(cols), relu: l.relu}
			runTile[T](w.isa, &t)
			j += cols
			continue
		}
		runLine[T](w.isa, &l)
		j += int(l.panels) * nr
	}
}

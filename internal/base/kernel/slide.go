package kernel

import "unsafe"

// Slide sets c (m x n, rows ldc apart) to x + A B; with relu negative results become 0. x holds
// SlideWidth initial values for each row of c, which go for all its columns, those of one row the
// same. Element l of row i of A is a[i*lda+l*across], row l of B begins at b[l*ldb], for k columns
// of A and rows of B; then as many more from each of further on. Rows of B may overlap, as windows
// do that slide over a line of an image, and b has room for SlideRoom(n) values in each. Every sum
// is in order from its initial value. c overlaps no operand. All this is done for each of the
// images, whose B and c begin some values apart.
func Slide[T Float](c []T, ldc int, a []T, lda, across int, b []T, ldb int, x []T, m, n, k int, further []Step, relu bool, images Images) {
	slide(best(), c, ldc, a, lda, across, b, ldb, x, m, n, k, further, relu, images)
}

// Step is where the sums of a Slide go on in its operands.
type Step struct{ A, B int }

// Images are how many a Slide is for, and how many values apart their B and c begin.
type Images struct{ Count, B, C int }

// SlideWidth is the number of initial values for a row, on any machine.
const SlideWidth = 2 * 64 / 4

// SlideRoom is the number of values that may be read of a row of n: whole vectors.
func SlideRoom(n int) int { return (n + SlideWidth - 1) / SlideWidth * SlideWidth }

// Spread copies rows of n values, which follow each other in src, to dst, ds apart there; a row has
// room for SlideRoom(n) values. What lies behind a row becomes 0, maybe, as far as that room goes
// and no other row lies.
func Spread[T Float](dst []T, ds int, src []T, n int) { spread(best(), dst, ds, src, n) }

func spread[T Float](s isa, dst []T, ds int, src []T, n int) {
	if len(src) == 0 {
		return
	}
	rows := len(src) / n
	src = src[:rows*n]
	within("dst", len(dst), rows, SlideRoom(n), ds)
	if s == plain {
		for i := range rows {
			copy(dst[i*ds:][:n], src[i*n:])
		}
		return
	}
	size, nr := uintptr(sizeOf[T]()), 2*lanes[T](s)
	// The last columns come first: the vectors that they fill reach into the next row.
	for j := (n - 1) / nr * nr; j >= 0; j -= nr {
		runPack[T](s, &pack{dst: at(dst, j), ds: uintptr(ds) * size, src: at(src, j), ss: uintptr(n) * size, rows: uintptr(rows), cols: uintptr(min(nr, n-j))})
	}
}

func slide[T Float](s isa, c []T, ldc int, a []T, lda, across int, b []T, ldb int, x []T, m, n, k int, further []Step, relu bool, images Images) {
	if m == 0 || n == 0 || k == 0 || images.Count == 0 {
		return
	}
	last := images.Count - 1
	within("c", len(c)-last*images.C, m, n, ldc)
	within("a", len(a), m, (k-1)*across+1, lda)
	within("b", len(b)-last*images.B, k, SlideRoom(n), ldb)
	x = x[:m*SlideWidth]
	for _, step := range further {
		within("a", len(a[step.A:]), m, (k-1)*across+1, lda)
		within("b", len(b[step.B:])-last*images.B, k, SlideRoom(n), ldb)
	}
	if s == plain {
		for i := range images.Count {
			slidePlain(c[i*images.C:], ldc, a, lda, across, b[i*images.B:], ldb, x, m, n, k, further, relu)
		}
		return
	}
	size, nr := uintptr(sizeOf[T]()), 2*lanes[T](s)
	t := tile{
		rs: uintptr(lda) * size, ks: uintptr(across) * size, bs: uintptr(ldb) * size, k: uintptr(k), cs: uintptr(ldc) * size, xs: SlideWidth * size,
		starts: at(further, 0), steps: uintptr(len(further)) * unsafe.Sizeof(Step{}), relu: bit(relu),
	}
	for j := 0; j < n; j += nr {
		t.cols = uintptr(min(nr, n-j))
		for i := 0; i < m; i += int(t.rows) {
			t.rows = uintptr(s.height(m - i))
			t.a, t.x = at(a, i*lda), at(x, i*SlideWidth)
			for image := range images.Count {
				t.b, t.c = at(b, image*images.B+j), at(c, image*images.C+i*ldc+j)
				runTile[T](s, &t)
			}
		}
	}
}

func slidePlain[T Float](c []T, ldc int, a []T, lda, across int, b []T, ldb int, x []T, m, n, k int, further []Step, relu bool) {
	for i := range m {
		row := c[i*ldc:][:n]
		fill(row, x[i*SlideWidth])
		var step Step
		for s := range 1 + len(further) {
			if s > 0 {
				step = further[s-1]
			}
			for l := range k {
				w, from := a[step.A+i*lda+l*across], b[step.B+l*ldb:][:n]
				for j := range row {
					row[j] += T(w * from[j])
				}
			}
		}
		if relu {
			Relu(row, row)
		}
	}
}

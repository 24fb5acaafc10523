package kernel

// Slide sets c (m x n, rows ldc apart) to x + A B, or adds A B to it if x is nil; with
// relu negative results become 0. Element l of row i of A is a[i*lda+l*step]. Row l of B
// begins at b[l*ldb]; its rows may overlap, as windows do that slide over a line of an
// image, and b has room for SlideRoom(n) values in each. x holds SlideWidth initial values
// for each row of c, which go for all its columns, those of one row the same. Every sum is
// in order of k from its initial value. c overlaps no operand. All this is done for each of
// the images, whose B and c begin some values apart.
func Slide[T Float](c []T, ldc int, a []T, lda, step int, b []T, ldb int, x []T, m, n, k int, relu bool, images Images) {
	slide(best(), c, ldc, a, lda, step, b, ldb, x, m, n, k, relu, images)
}

// Images are how many a Slide is for, and how many values apart their B and c begin.
type Images struct{ Count, B, C int }

// SlideWidth is the number of initial values for a row, on any machine.
const SlideWidth = 2 * 64 / 4

// SlideRoom is the number of values that may be read of a row of n: whole vectors.
func SlideRoom(n int) int { return (n + SlideWidth - 1) / SlideWidth * SlideWidth }

func slide[T Float](s isa, c []T, ldc int, a []T, lda, step int, b []T, ldb int, x []T, m, n, k int, relu bool, images Images) {
	if m == 0 || n == 0 || k == 0 || images.Count == 0 {
		return
	}
	last := images.Count - 1
	within("c", len(c)-last*images.C, m, n, ldc)
	within("a", len(a), m, (k-1)*step+1, lda)
	within("b", len(b)-last*images.B, k, SlideRoom(n), ldb)
	if x != nil {
		x = x[:m*SlideWidth]
	}
	if s == plain {
		for i := range images.Count {
			slidePlain(c[i*images.C:], ldc, a, lda, step, b[i*images.B:], ldb, x, m, n, k, relu)
		}
		return
	}
	size, nr := uintptr(sizeOf[T]()), 2*lanes[T](s)
	t := tile{a: at(a, 0), rs: uintptr(lda) * size, ks: uintptr(step) * size, bs: uintptr(ldb) * size, k: uintptr(k), cs: uintptr(ldc) * size}
	if relu {
		t.relu = 1
	}
	for j := 0; j < n; j += nr {
		t.cols = uintptr(min(nr, n-j))
		for i := range images.Count {
			t.b, t.c = at(b, i*images.B+j), at(c, i*images.C+j)
			t.x, t.xs = t.c, t.cs
			if x != nil {
				t.x, t.xs = at(x, 0), SlideWidth*size
			}
			tileColumn[T](s, t, m, nil)
		}
	}
}

func slidePlain[T Float](c []T, ldc int, a []T, lda, step int, b []T, ldb int, x []T, m, n, k int, relu bool) {
	for i := range m {
		row := c[i*ldc:][:n]
		if x != nil {
			fill(row, x[i*SlideWidth])
		}
		for l := range k {
			w, from := a[i*lda+l*step], b[l*ldb:][:n]
			for j := range row {
				row[j] += T(w * from[j])
			}
		}
		if relu {
			Relu(row, row)
		}
	}
}

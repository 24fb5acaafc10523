package kernel

import (
	"fmt"
	"unsafe"
)

// Filters are the weights of convolutions, in groups of equally many, prepared once for
// products with lines of images.
type Filters[T Float] struct {
	count  int // of a group
	starts []int
	ldb, k int
	isa    isa
	// weights holds the filters of a group tile by tile: of as many as the tile is high the
	// first weight, then the second.
	weights []T
	initial []T            // SlideWidth for each filter, all the same
	steps   map[int][]Step // by the height of a tile: where its sums go on behind the first start
	reach   int            // of b, behind what a line begins with
}

// Step is where the sums of a tile go on, values behind its first weight and line.
type Step struct{ A, B int }

// Images are how many a Slide is for, and how many values apart their b and c begin.
type Images struct{ Count, B, C int }

// SlideWidth is the number of values of a line that are computed together, at most.
const SlideWidth = 2 * 64 / 4

// partValues is about how many numbers of lines are computed with before the next filters.
const partValues = 1 << 15

// slideRoom is the number of values that may be read of a line of n: whole vectors.
func slideRoom(n int) int { return (n + SlideWidth - 1) / SlideWidth * SlideWidth }

// PackFilters prepares w, the weights of groups x count filters. Weight s*k + l of each, l < k,
// meets the line that begins at starts[s] + l*ldb. bias is a number for each filter; nil: 0.
func PackFilters[T Float](groups, count int, w, bias []T, starts []int, ldb, k int) *Filters[T] {
	return packFilters(best(), groups, count, w, bias, starts, ldb, k)
}

func packFilters[T Float](s isa, groups, count int, w, bias []T, starts []int, ldb, k int) *Filters[T] {
	f := &Filters[T]{count: count, starts: starts, ldb: ldb, k: k, isa: s, steps: map[int][]Step{}}
	all, size := groups*count, len(starts)*k
	f.weights, f.initial = aligned[T](all*size), make([]T, all*SlideWidth)
	for i := range bias {
		fill(f.initial[i*SlideWidth:][:SlideWidth], bias[i])
	}
	for i := 0; i < all; {
		h := s.height(count - i%count)
		Transpose(f.weights[i*size:], h, w[i*size:], size, h, size)
		if f.steps[h] == nil {
			steps := []Step{}
			for s, start := range starts[1:] {
				steps = append(steps, Step{A: (s + 1) * k * h, B: start - starts[0]})
			}
			f.steps[h] = steps
		}
		i += h
	}
	for _, start := range starts {
		f.reach = max(f.reach, start+(k-1)*ldb)
	}
	return f
}

// Slide sets c (a row of n values for each filter of group g, ldc apart) to bias + sum over
// weights of weight times line; with relu negative results become 0. b has room for SlideRoom(n)
// values in each line; lines may overlap, as windows do that slide over an image. Every sum is in
// order of the weights, from the bias. c overlaps no operand. All this is done for each of the
// images.
func (f *Filters[T]) Slide(g int, c []T, ldc int, b []T, n int, relu bool, images Images) {
	if f.count == 0 || n == 0 || images.Count == 0 {
		return
	}
	last := images.Count - 1
	within("c", len(c)-last*images.C, f.count, n, ldc)
	if room := len(b) - last*images.B; room < f.reach+slideRoom(n) {
		panic(fmt.Sprintf("kernel: b has %d values for lines of %d up to %d", room, n, f.reach))
	}
	size := len(f.starts) * f.k
	w, x := f.weights[g*f.count*size:], f.initial[g*f.count*SlideWidth:]
	if f.isa == plain {
		for i := range images.Count {
			f.slidePlain(c[i*images.C:], ldc, w, b[i*images.B:], x, n, relu)
		}
		return
	}
	bytes, nr := uintptr(sizeOf[T]()), 2*lanes[T](f.isa)
	t := tile{rs: bytes, bs: uintptr(f.ldb) * bytes, k: uintptr(f.k), cs: uintptr(ldc) * bytes, xs: SlideWidth * bytes, relu: bit(relu)}
	// Lines of a part stay in cache until all filters have met them, and a tile's weights until the
	// part's end.
	part := max(4, partValues/size/nr) * nr
	for from := 0; from < n; from += part {
		end := min(n, from+part)
		for i := 0; i < f.count; i += int(t.rows) {
			h := f.isa.height(f.count - i)
			steps := f.steps[h]
			t.rows, t.ks = uintptr(h), uintptr(h)*bytes
			t.starts, t.steps = at(steps, 0), uintptr(len(steps))*unsafe.Sizeof(Step{})
			t.a, t.x = at(w, i*size), at(x, i*SlideWidth)
			for j := from; j < end; j += nr {
				t.cols = uintptr(min(nr, end-j))
				for image := range images.Count {
					t.b, t.c = at(b, image*images.B+f.starts[0]+j), at(c, image*images.C+i*ldc+j)
					runTile[T](f.isa, &t)
				}
			}
		}
	}
}

func (f *Filters[T]) slidePlain(c []T, ldc int, w, b, x []T, n int, relu bool) {
	size := len(f.starts) * f.k
	for i := 0; i < f.count; {
		h := f.isa.height(f.count - i)
		for r := range h {
			row := c[(i+r)*ldc:][:n]
			fill(row, x[(i+r)*SlideWidth])
			for s, start := range f.starts {
				for l := range f.k {
					weight, line := w[i*size+(s*f.k+l)*h+r], b[start+l*f.ldb:][:n]
					for j := range row {
						row[j] += T(weight * line[j])
					}
				}
			}
			if relu {
				Relu(row, row)
			}
		}
		i += h
	}
}

// CopyRows copies rows of n values, ss apart in src, to dst, ds apart there, where rows do not
// overlap. Numbers between rows of dst may become 0.
func CopyRows[T Float](dst []T, ds int, src []T, ss, n, rows int) {
	copyRows(best(), dst, ds, src, ss, n, rows)
}

func copyRows[T Float](s isa, dst []T, ds int, src []T, ss, n, rows int) {
	if rows == 0 || n == 0 {
		return
	}
	within("dst", len(dst), rows, n, ds)
	within("src", len(src), rows, n, ss)
	whole := 0 // rows that may be written by whole vectors: the last one stays inside dst
	if s != plain && ds > 0 {
		size, nr := uintptr(sizeOf[T]()), 2*lanes[T](s)
		whole = max(0, rows-1-((n+nr-1)/nr*nr-n+ds-1)/ds)
		// The last columns come first: the vectors that they fill reach into the next row.
		for j := (n - 1) / nr * nr; j >= 0 && whole > 0; j -= nr {
			runPack[T](s, &pack{dst: at(dst, j), ds: uintptr(ds) * size, src: at(src, j), ss: uintptr(ss) * size, rows: uintptr(whole), cols: uintptr(min(nr, n-j))})
		}
	}
	for i := whole; i < rows; i++ {
		copy(dst[i*ds:][:n], src[i*ss:])
	}
}

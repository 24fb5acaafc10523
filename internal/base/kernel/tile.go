package kernel

import "unsafe"

// tile is the argument of the assembly that computes one tile of C = X + A*B:
// rows x cols elements, each one chain of fused multiply-adds in order of k from
// its initial value. The assembly knows the offsets of the fields.
type tile struct {
	a      unsafe.Pointer // element (0, 0) of A
	rs, ks uintptr        // bytes between rows and columns of A
	b      unsafe.Pointer // k rows of one or two whole vectors
	bs     uintptr        // bytes between them
	k      uintptr
	x      unsafe.Pointer // initial values, or nil for 0
	xs     uintptr        // bytes between their rows; 0 repeats one
	c      unsafe.Pointer // may be x
	cs     uintptr        // bytes between its rows
	rows   uintptr        // a height of the instruction set
	cols   uintptr        // 1 to two vectors
	relu   uintptr        // not 0: negative results become 0
	ahead  uintptr        // memory to fetch meanwhile, a line of the cache for each of the k; 0: none
	by     uintptr        // bytes from one of these lines to the next
	// Where the sums go on, with k more columns of A and rows of B each time, of type Step: values
	// behind a and b.
	starts unsafe.Pointer
	steps  uintptr // bytes of them
}

// fetchingHeight is the least height of a tile that fetches memory, in the assembly too.
const fetchingHeight = 4

// ahead is memory that is fetched to the first cache while tiles are computed.
type ahead struct{ next, end uintptr }

func aheadOf[T Float](v []T) *ahead {
	from := uintptr(at(v, 0))
	return &ahead{from, from + uintptr(len(v)*sizeOf[T]())}
}

// take is where the next lines begin, 0 if there are no more.
func (a *ahead) take(lines uintptr) uintptr {
	if a == nil || a.next >= a.end {
		return 0
	}
	from := a.next
	a.next += lines * 64
	return from
}

// pack is the argument of the assembly that copies rows of cols elements, times
// a weight each if w is not nil, to rows of one or two whole vectors; what is
// left of a vector becomes 0.
type pack struct {
	dst  unsafe.Pointer
	src  unsafe.Pointer
	ss   uintptr // bytes between rows of src
	rows uintptr
	cols uintptr // 1 to two vectors
	w    unsafe.Pointer
	ds   uintptr // bytes between rows of dst; 0: one follows the other
}

// pageOfLines is how far apart in memory the same lines of the first cache are, eight or a few more of them: more rows of
// A that lie so far apart would drive each other out.
const pageOfLines = 4096

// tileColumn computes m rows of a column of tiles. t is what the first tile needs, except
// its number of rows. Meanwhile some of what is ahead is fetched; that may be nil.
func tileColumn[T Float](s isa, t tile, m int, meanwhile *ahead) {
	for {
		h := s.height(m)
		if t.rs%pageOfLines == 0 {
			h = min(h, 8)
		}
		t.rows, t.ahead = uintptr(h), 0
		if h >= fetchingHeight {
			t.ahead, t.by = meanwhile.take(t.k), 64
		}
		runTile[T](s, &t)
		if m -= h; m == 0 {
			return
		}
		t.a = unsafe.Add(t.a, uintptr(h)*t.rs)
		t.c = unsafe.Add(t.c, uintptr(h)*t.cs)
		if t.x != nil {
			t.x = unsafe.Add(t.x, uintptr(h)*t.xs)
		}
	}
}

// Sizes that keep a panel of B (kBlock rows of two vectors) in the first cache
// and the rows of A that pass by it in the second.
const (
	kBlock   = 256
	rowBlock = 264
)

// kStep cuts k into equal blocks of at most kBlock.
func kStep(k int) int {
	blocks := max(1, (k+kBlock-1)/kBlock)
	return (k + blocks - 1) / blocks
}

// sizeOf is the size of a T in bytes.
func sizeOf[T Float]() int {
	var x T
	return int(unsafe.Sizeof(x))
}

// lanes is the number of elements in a vector.
func lanes[T Float](s isa) int { return s.vector() / sizeOf[T]() }

// panelWidth is the elements in a row of a panel of cols columns: whole vectors.
func panelWidth[T Float](s isa, cols int) int {
	if n := lanes[T](s); cols <= n {
		return n
	}
	return 2 * lanes[T](s)
}

// at is the address of v[i], which exists unless v is empty.
func at[T any](v []T, i int) unsafe.Pointer {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Pointer(&v[i])
}

// aligned makes n elements that start at a whole vector: a load that crosses two
// cache lines takes twice as long.
func aligned[T Float](n int) []T {
	const line = 64
	size := sizeOf[T]()
	v := make([]T, n+line/size)
	off := 0
	if r := int(uintptr(unsafe.Pointer(&v[0])) % line); r != 0 {
		off = (line - r) / size
	}
	return v[off : off+n : off+n]
}

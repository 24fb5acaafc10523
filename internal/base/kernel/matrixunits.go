package kernel

import (
	"math"
	"sync"
	"unsafe"
)

// SplitWeights is a matrix of float32 prepared for products on the processor's matrix units
// (AMX), which multiply bfloat16 and add up in float32. Operands are sums of three values in
// bfloat16 (8 bits of mantissa each); of nine products of these parts the six that matter in
// float32 are added up. The order of a row's sums depends on the matrix alone, as in Weights,
// but differs from that of Weights: both are right to rounding.
// Two parts would miss float32 by 3e-5.
type SplitWeights struct {
	K, N    int
	exact   *Weights[float32] // for rows that parts cannot hold
	data    []byte            // tiles: by 32 columns, 32 rows of the matrix, 16 columns, part
	chunks  int               // of 32 rows
	stacked bool              // K <= 16: parts below each other, in one chunk or three
	// Go's version of the assembly: tests without matrix units.
	splitInGo, multiplyInGo bool
}

// unitBlock is the argument of the assembly that multiplies a block of up to 32 rows with all
// weights: c = max(a*b + bias, least). It knows the offsets of the fields;
// it changes some, and leaves nil in pointers that it moves.
type unitBlock struct {
	config   unsafe.Pointer // the shapes of tiles, 64 bytes
	a        unsafe.Pointer // tiles of the rows
	rowTile  uintptr        // bytes from the upper 16 rows to the lower
	stride   uintptr        // bytes between rows in a tile of a
	chunk    uintptr        // bytes from a chunk of a to the next
	b        unsafe.Pointer // tiles of the weights
	chunks   uintptr
	panels   uintptr // of 32 columns
	bias     unsafe.Pointer
	biasStep uintptr // bytes from panel to panel; 0 repeats 32 values
	c        unsafe.Pointer
	cs       uintptr // bytes between its rows
	rows     uintptr // 1 to 32
	cols     uintptr
	least    uint64         // in float32
	sums     unsafe.Pointer // room for 32 x 32
	// With more than 16 rows in three parts: rows to split between products, which take turns with
	// quota chunks of 32 columns.
	next  splitRows
	quota uintptr
	// Rows whose sums wait for their bias: where they are and go, and how many. They are the assembly's.
	from, to unsafe.Pointer //lint:ignore U1000 the assembly's
	left     uintptr        //lint:ignore U1000 the assembly's
}

// splitRows is the argument of the assembly that splits up to 32 rows.
type splitRows struct {
	dst     unsafe.Pointer
	step    uintptr // bytes between rows of dst
	chunk   uintptr // bytes from a chunk of dst to the next; stacked: those of a row
	src     unsafe.Pointer
	ss      uintptr // bytes between rows of src
	rows    uintptr
	cols    uintptr
	largest unsafe.Pointer // a uint32 for each row: the bits of its largest magnitude
}

// unitRows and unitCols are the rows and columns of a block of results.
const (
	unitRows   = 32
	unitCols   = 32
	chunkDepth = 32 // of a sum, in one tile
	tileBytes  = 1024
	partBytes  = 2 * tileBytes // from a part of rows to the next, upper and lower tiles being side by side
	// Parts side by side in one tile save products if there are so few columns.
	stackedDepth = 16
	stackedParts = 6
)

// Largest magnitudes of rows and of weights within these bounds: no product or sum overflows, and
// what underflows of the parts' products is below rounding.
const (
	smallestRow, largestRow         = 1e-16, 1e18
	smallestWeights, largestWeights = 1e-12, 1e15
)

// stackedOrder returns the parts of the rows, and those of the weights that meet them: small
// products first, so that few sums are rounded at full size.
func stackedOrder() [stackedParts][2]int {
	return [stackedParts][2]int{{2, 0}, {1, 1}, {1, 0}, {0, 2}, {0, 1}, {0, 0}}
}

// tileShapes is what the processor is told: eight tiles of 16 rows of 64 bytes.
func tileShapes() *[64]byte {
	shapes := &[64]byte{0: 1} // palette
	for i := range 8 {
		shapes[16+2*i] = 64
		shapes[48+i] = 16
	}
	return shapes
}

// PackSplit is Pack for matrix units; nil where there are none (MatrixUnits), and for weights that
// they do not suit: those for which vectors are as fast, or magnitudes beyond what parts can hold.
func PackSplit(k, n int, w []float32, trans bool) *SplitWeights {
	if !paysToSplit(k, n) || !MatrixUnits() {
		return nil
	}
	return packSplit(k, n, w, trans)
}

// MatrixUnits says whether PackSplit has units to run on: processor and operating system have them
// and let this process use them, for which the first call asks, and a product comes out right.
// Where the system has said yes, it keeps room for tiles when it handles signals: C code in this
// process that handles signals on stacks of less than some 12 kB will fail. GODEBUG=cpu.amxtile=off
// in the environment makes it false without asking.
func MatrixUnits() bool { return unitsWork() }

var unitsWork = sync.OnceValue(func() bool { return matrixUnits() && tried() })

// tried compares two small products with those of Weights, to rounding: units that an emulator or
// a virtual machine offers and does not have do no harm then.
func tried() bool {
	const m, n = 3, 17
	for _, k := range []int{5, 40} {
		w, a := make([]float32, k*n), make([]float32, m*k)
		for _, v := range [][]float32{w, a} {
			for i := range v {
				v[i] = float32(math.Sin(float64(i + 1)))
			}
		}
		s := packSplit(k, n, w, false)
		got, want := make([]float32, m*n), make([]float32, m*n)
		s.Mul(got, n, a, k, m, nil, make([]float32, s.Scratch()))
		s.exact.Mul(want, n, a, k, m, nil)
		for i, x := range want {
			if !(math.Abs(float64(got[i]-x)) <= float64(k)*1e-6) {
				return false
			}
		}
	}
	return true
}

// paysToSplit estimates, from what instructions take, in cycles for 32 rows, whether matrix units
// need less time than vectors, two of which are multiplied and added in a cycle. Parts of larger
// matrices than the last bound leave the second cache, from which they are read again for every
// 32 rows.
func paysToSplit(k, n int) bool {
	const (
		product    = 16  // of tiles
		epilogue   = 100 // of 32 columns
		splitting  = 12 * unitRows
		mostInside = 2 << 20
	)
	panels, chunks, products := (n+unitCols-1)/unitCols, (k+chunkDepth-1)/chunkDepth, 6
	split := chunks * splitting
	if k <= stackedDepth {
		chunks, products, split = (k*stackedParts+chunkDepth-1)/chunkDepth, 1, 2*splitting
	}
	units := panels*(chunks*products*4*product+epilogue) + split
	return k > 1 && units < k*n && 6*k*n <= mostInside
}

func packSplit(k, n int, w []float32, trans bool) *SplitWeights {
	if k == 0 || n == 0 || !between(largestBits(w[:k*n]), smallestWeights, largestWeights) {
		return nil
	}
	s := &SplitWeights{K: k, N: n, exact: Pack(k, n, w, trans), stacked: k <= stackedDepth}
	at := func(l, j int) float32 {
		if trans {
			return w[j*k+l]
		}
		return w[l*n+j]
	}
	depth, parts := k, 3
	if s.stacked {
		depth, parts = k*stackedParts, 1
	}
	s.chunks = (depth + chunkDepth - 1) / chunkDepth
	panels := (n + unitCols - 1) / unitCols
	s.data = alignedBytes(panels * s.chunks * 2 * parts * tileBytes)
	for j := range n {
		for l := range k {
			p := split(at(l, j))
			if !s.stacked {
				for part := range parts {
					s.put(l, j, part, parts, p[part])
				}
				continue
			}
			for i, meet := range stackedOrder() {
				s.put(i*k+l, j, 0, 1, p[meet[1]])
			}
		}
	}
	return s
}

// put writes one part of an element to its place in a tile: pairs of rows are side by side.
func (s *SplitWeights) put(l, j, part, parts int, bits uint16) {
	tile := (j/unitCols*s.chunks+l/chunkDepth)*2*parts + j%unitCols/16*parts + part
	i := tile*tileBytes + l%chunkDepth/2*64 + j%16*4 + l%2*2
	s.data[i], s.data[i+1] = byte(bits), byte(bits>>8)
}

// split is x as a sum of three values in bfloat16, each what the one before left, rounded to
// the nearest.
func split(x float32) (parts [3]uint16) {
	for i := range parts {
		parts[i] = bfloat16(x)
		x -= math.Float32frombits(uint32(parts[i]) << 16)
	}
	return parts
}

// bfloat16 is x rounded to the nearest, ties to even; what is below the smallest normal number
// is 0, as for the processor.
func bfloat16(x float32) uint16 {
	bits := math.Float32bits(x)
	if bits&0x7f800000 == 0 {
		return uint16(bits >> 16 & 0x8000)
	}
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}

// between says whether the bits are those of 0 or of a number within bounds.
func between(bits uint32, lo, hi float32) bool {
	return bits == 0 || bits >= math.Float32bits(lo) && bits <= math.Float32bits(hi)
}

func largestBits(v []float32) (largest uint32) {
	for _, x := range v {
		largest = max(largest, math.Float32bits(x)&^(1<<31))
	}
	return largest
}

// Scratch is the number of float32 that Mul needs room for.
func (s *SplitWeights) Scratch() int {
	return (2*s.rowsBytes()+unitRows*unitCols*4)/4 + 64/4
}

// rowsBytes is what a block of split rows takes.
func (s *SplitWeights) rowsBytes() int {
	if s.stacked {
		return unitRows * s.chunks * 64
	}
	return s.chunks * 3 * partBytes
}

// Mul is that of Weights, to rounding. scratch has room for Scratch values, which are
// overwritten, and is used by one call at a time.
func (s *SplitWeights) Mul(c []float32, ldc int, a []float32, lda, m int, bias, scratch []float32) {
	s.mul(c, ldc, a, lda, m, bias, scratch, false)
}

// MulRelu is Mul followed by Relu on c.
func (s *SplitWeights) MulRelu(c []float32, ldc int, a []float32, lda, m int, bias, scratch []float32) {
	s.mul(c, ldc, a, lda, m, bias, scratch, true)
}

// mul goes through blocks of rows. The next block is split between the products of one, which keep
// another part of the processor busy.
func (s *SplitWeights) mul(c []float32, ldc int, a []float32, lda, m int, bias, scratch []float32, relu bool) {
	if m == 0 {
		return
	}
	within("c", len(c), m, s.N, ldc)
	within("a", len(a), m, s.K, lda)
	var zeros [unitCols]float32
	var largest [2][unitRows]uint32 // of this block's rows and of the next one's
	scratch = fromLine(scratch[:s.Scratch()])
	panels := (s.N + unitCols - 1) / unitCols
	u := unitBlock{
		config:  unsafe.Pointer(tileShapes()),
		rowTile: tileBytes, stride: 64, chunk: 3 * partBytes,
		chunks: uintptr(s.chunks),
		cs:     uintptr(4 * ldc),
		least:  uint64(math.Float32bits(least[float32](relu))),
		sums:   at(scratch, s.rowsBytes()/2),
		// There are six turns for each chunk and panel.
		quota: uintptr((unitRows + 6*panels - 1) / (6 * panels)),
	}
	first := at(zeros[:], 0)
	if bias != nil {
		first, u.biasStep = at(bias[:s.N], 0), 4*unitCols
	}
	parts := 3
	if s.stacked {
		parts = 1
		u.stride, u.chunk = uintptr(64*s.chunks), 64
		u.rowTile = 16 * u.stride
	}
	block := func(i int) splitRows {
		r := splitRows{
			dst: at(scratch, i/unitRows%2*s.rowsBytes()/4), step: u.stride, chunk: u.chunk,
			src: at(a, i*lda), ss: uintptr(4 * lda), rows: uintptr(min(unitRows, m-i)), cols: uintptr(s.K),
			largest: unsafe.Pointer(&largest[i/unitRows%2]),
		}
		if s.stacked {
			r.chunk = u.stride
		}
		return r
	}
	ahead := !s.stacked && !s.splitInGo && !s.multiplyInGo
	for i := 0; i < m; i += unitRows {
		r := block(i)
		u.a, u.rows = r.dst, r.rows
		if i == 0 || !ahead {
			s.split(&r)
		}
		if u.next = (splitRows{}); ahead && i+unitRows < m {
			u.next = block(i + unitRows)
		}
		u.b, u.panels, u.bias, u.cols, u.c = unsafe.Pointer(&s.data[0]), uintptr(panels), first, uintptr(s.N), at(c, i*ldc)
		s.multiply(&u, parts)
		for j := range min(unitRows, m-i) {
			if !between(largest[i/unitRows%2][j], smallestRow, largestRow) {
				s.exact.mul(c[(i+j)*ldc:], ldc, a[(i+j)*lda:], lda, 1, bias, relu, nil)
			}
		}
	}
}

func (s *SplitWeights) split(r *splitRows) {
	if s.splitInGo {
		splitInGo(r, s.stacked)
	} else {
		runSplit(r, s.stacked)
	}
}

func (s *SplitWeights) multiply(u *unitBlock, parts int) {
	if s.multiplyInGo {
		multiplyInGo(u, parts)
	} else {
		runUnitBlock(u, parts)
	}
}

// fromLine is v from where a cache line begins.
func fromLine(v []float32) []float32 {
	const line = 64
	if r := int(uintptr(unsafe.Pointer(&v[0])) % line); r != 0 {
		v = v[(line-r)/4:]
	}
	return v
}

// alignedBytes makes n bytes that start at a cache line.
func alignedBytes(n int) []byte {
	v := aligned[float32](n / 4)
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), n)
}

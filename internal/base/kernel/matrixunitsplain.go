package kernel

import (
	"math"
	"unsafe"
)

// PackSplitInGo is PackSplit for tests on any machine, of weights of any size: Go's own arithmetic
// takes the place of matrix units, slowly, and comes to the same bits.
func PackSplitInGo(k, n int, w []float32, trans bool) *SplitWeights {
	s := packSplit(k, n, w, trans)
	if s != nil {
		s.splitInGo, s.multiplyInGo = true, true
	}
	return s
}

// multiplyInGo is what the processor computes in a block, as its manual has it: for each element
// of the sum in a tile, chains of fused multiply-adds over even and over odd elements of a
// chunk, their sum, and then that added to the tile. Denormal numbers are 0.
func multiplyInGo(u *unitBlock, parts int) {
	orders := map[int][][2]int{1: {{0, 0}}, 3: {{0, 2}, {0, 1}, {1, 1}, {1, 0}, {2, 0}, {0, 0}}}[parts]
	depth := int(u.chunks) * parts * chunkDepth
	rows, columns := make([]float32, depth*int(u.rows)), make([]float32, depth)
	for i := range u.rows {
		wide(rows[int(i)*depth:][:depth], parts, func(chunk, part, k int) unsafe.Pointer {
			return unsafe.Add(u.a, i/16*u.rowTile+uintptr(chunk)*u.chunk+uintptr(part)*partBytes+i%16*u.stride+uintptr(2*k))
		})
	}
	for j := range u.cols {
		wide(columns, parts, func(chunk, part, k int) unsafe.Pointer {
			tile := ((j/unitCols*u.chunks+uintptr(chunk))*2+j%unitCols/16)*uintptr(parts) + uintptr(part)
			return unsafe.Add(u.b, tile*tileBytes+j%16*4+uintptr(k/2*64+k%2*2))
		})
		bias := *(*float32)(unsafe.Add(u.bias, j/unitCols*u.biasStep+j%unitCols*4))
		for i := range int(u.rows) {
			sum, row := float32(0), rows[i*depth:][:depth]
			for c := 0; c < depth; c += parts * chunkDepth {
				for _, o := range orders {
					even, odd := pairs(row[c+o[0]*chunkDepth:][:chunkDepth], columns[c+o[1]*chunkDepth:][:chunkDepth])
					sum = flushed(sum + flushed(even+odd))
				}
			}
			sum += bias
			if least := math.Float32frombits(uint32(u.least)); sum < least {
				sum = least
			}
			*(*float32)(unsafe.Add(u.c, uintptr(i)*u.cs+4*j)) = sum
		}
	}
}

// wide writes numbers in bfloat16, of chunk after chunk and in it part after part, as float32.
func wide(to []float32, parts int, at func(chunk, part, k int) unsafe.Pointer) {
	for i := range to {
		chunk, k := i/chunkDepth, i%chunkDepth
		half := *(*uint16)(at(chunk/parts, chunk%parts, k))
		to[i] = flushed(math.Float32frombits(uint32(half) << 16))
	}
}

// pairs are the sums of products of even and of odd elements.
func pairs(a, b []float32) (even, odd float32) {
	b = b[:len(a)]
	for k := 0; k < len(a); k += 2 {
		even = fused(a[k], b[k], even)
		odd = fused(a[k+1], b[k+1], odd)
	}
	return even, odd
}

// splitInGo is splitting in Go.
func splitInGo(r *splitRows, stacked bool) {
	for i := range r.rows {
		dst := unsafe.Add(r.dst, i*r.step)
		src := unsafe.Slice((*float32)(unsafe.Add(r.src, i*r.ss)), r.cols)
		*(*uint32)(unsafe.Add(r.largest, 4*i)) = largestBits(src)
		if stacked {
			to := unsafe.Slice((*uint16)(dst), r.chunk/2)
			clear(to)
			for l, x := range src {
				p := split(x)
				for part, meet := range stackedOrder() {
					to[part*len(src)+l] = p[meet[0]]
				}
			}
			continue
		}
		for c := uintptr(0); c*chunkDepth < r.cols; c++ {
			for l := range uintptr(chunkDepth) {
				var p [3]uint16
				if k := c*chunkDepth + l; k < r.cols {
					p = split(src[k])
				}
				for part, bits := range p {
					*(*uint16)(unsafe.Add(dst, c*r.chunk+uintptr(part)*partBytes+2*l)) = bits
				}
			}
		}
	}
}

// fused is a*b + c rounded once, the product being exact in float64: the sum is rounded to odd
// there, so that rounding it again is right.
func fused(a, b, c float32) float32 {
	p, q := float64(a)*float64(b), float64(c)
	s := p + q
	rest := s - p
	e := (p - (s - rest)) + (q - rest)
	if bits := math.Float64bits(s); e != 0 && bits&1 == 0 {
		if (e > 0) == (s > 0) {
			bits++
		} else {
			bits--
		}
		s = math.Float64frombits(bits)
	}
	return flushed(float32(s))
}

// flushed is x, or 0 of its sign for a denormal number.
func flushed(x float32) float32 {
	if bits := math.Float32bits(x); bits&0x7f800000 == 0 {
		return math.Float32frombits(bits & (1 << 31))
	}
	return x
}

package kernel

import (
	"math"
	"unsafe"
)

// PackSplitInGo is PackSplit for tests on any machine: Go's own arithmetic takes the place of matrix
// units, slowly, and comes to the same bits.
func PackSplitInGo(k, n int, w []float32, trans bool) *SplitWeights {
	if !paysToSplit(k, n) {
		return nil
	}
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
	half := func(p unsafe.Pointer, offset uintptr) float32 {
		return math.Float32frombits(uint32(*(*uint16)(unsafe.Add(p, offset))) << 16)
	}
	for i := range u.rows {
		for j := range u.cols {
			sum := float32(0)
			for c := range u.chunks {
				for _, o := range orders {
					a := i/16*u.rowTile + c*u.chunk + uintptr(o[0])*tileBytes + i%16*u.stride
					b := ((j/unitCols*u.chunks+c)*2*uintptr(parts)+j%unitCols/16*uintptr(parts)+uintptr(o[1]))*tileBytes + j%16*4
					var odd [2]float32
					for k := range uintptr(chunkDepth) {
						odd[k%2] = fused(half(u.a, a+2*k), half(u.b, b+k/2*64+k%2*2), odd[k%2])
					}
					sum = flushed(sum + flushed(odd[0]+odd[1]))
				}
			}
			bias := *(*float32)(unsafe.Add(u.bias, j/unitCols*u.biasStep+j%unitCols*4))
			sum += bias
			if least := math.Float32frombits(uint32(u.least)); sum < least {
				sum = least
			}
			*(*float32)(unsafe.Add(u.c, i*u.cs+4*j)) = sum
		}
	}
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
					*(*uint16)(unsafe.Add(dst, c*r.chunk+uintptr(part)*tileBytes+2*l)) = bits
				}
			}
		}
	}
}

// fused is a*b + c rounded once, the product being exact in float64: the sum is rounded to odd
// there, so that rounding it again is right.
func fused(a, b, c float32) float32 {
	a, b, c = flushed(a), flushed(b), flushed(c)
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

func flushed(x float32) float32 {
	if math.Abs(float64(x)) < 0x1p-126 {
		return float32(math.Copysign(0, float64(x)))
	}
	return x
}

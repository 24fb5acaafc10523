package catboost

import (
	"encoding/binary"
	"math/bits"
)

// Hash is the number by which CatBoost knows a category: the low 32 bits of CityHash64, version 1.0, of its text.
func Hash(category string) int32 { return int32(uint32(cityHash64([]byte(category)))) }

// The primes of CityHash.
const (
	k0 = 0xc3a5c85c97cb3127
	k1 = 0xb492b66fbe98f273
	k2 = 0x9ae16a3b2f90404f
	k3 = 0xc949d7c7509e6557
)

func fetch64(s []byte) uint64       { return binary.LittleEndian.Uint64(s) }
func fetch32(s []byte) uint64       { return uint64(binary.LittleEndian.Uint32(s)) }
func rotate(v uint64, n int) uint64 { return bits.RotateLeft64(v, -n) }
func shiftMix(v uint64) uint64      { return v ^ v>>47 }

// hash16 is that of two words.
func hash16(u, v uint64) uint64 {
	const mul = 0x9ddfea08eb382d69
	a := (u ^ v) * mul
	a ^= a >> 47
	b := (v ^ a) * mul
	b ^= b >> 47
	return b * mul
}

func hashTo16(s []byte) uint64 {
	n := uint64(len(s))
	switch {
	case n > 8:
		a, b := fetch64(s), fetch64(s[n-8:])
		return hash16(a, rotate(b+n, int(n))) ^ b
	case n >= 4:
		return hash16(n+fetch32(s)<<3, fetch32(s[n-4:]))
	case n > 0:
		y := uint64(s[0]) + uint64(s[n>>1])<<8
		z := n + uint64(s[n-1])<<2
		return shiftMix(y*k2^z*k3) * k2
	}
	return k2
}

func hashTo32(s []byte) uint64 {
	n := uint64(len(s))
	a, b := fetch64(s)*k1, fetch64(s[8:])
	c, d := fetch64(s[n-8:])*k2, fetch64(s[n-16:])*k0
	return hash16(rotate(a-b, 43)+rotate(c, 30)+d, a+rotate(b^k3, 20)-c+n)
}

func hashTo64(s []byte) uint64 {
	n := uint64(len(s))
	z := fetch64(s[24:])
	a := fetch64(s) + (n+fetch64(s[n-16:]))*k0
	b, c := rotate(a+z, 52), rotate(a, 37)
	a += fetch64(s[8:])
	c += rotate(a, 7)
	a += fetch64(s[16:])
	vf, vs := a+z, b+rotate(a, 31)+c
	a = fetch64(s[16:]) + fetch64(s[n-32:])
	z = fetch64(s[n-8:])
	b, c = rotate(a+z, 52), rotate(a, 37)
	a += fetch64(s[n-24:])
	c += rotate(a, 7)
	a += fetch64(s[n-16:])
	wf, ws := a+z, b+rotate(a, 31)+c
	r := shiftMix((vf+ws)*k2 + (wf+vs)*k0)
	return shiftMix(r*k0+vs) * k2
}

// weak is a hash of 32 bytes and two seeds, in two words.
func weak(s []byte, a, b uint64) (uint64, uint64) {
	w, x, y, z := fetch64(s), fetch64(s[8:]), fetch64(s[16:]), fetch64(s[24:])
	a += w
	b = rotate(b+a+z, 21)
	c := a
	a += x
	a += y
	b += rotate(a, 44)
	return a + z, b + c
}

func cityHash64(s []byte) uint64 {
	n := len(s)
	switch {
	case n <= 16:
		return hashTo16(s)
	case n <= 32:
		return hashTo32(s)
	case n <= 64:
		return hashTo64(s)
	}
	x, y := fetch64(s), fetch64(s[n-16:])^k1
	z := fetch64(s[n-56:]) ^ k0
	v0, v1 := weak(s[n-64:], uint64(n), y)
	w0, w1 := weak(s[n-32:], uint64(n)*k1, k0)
	z += shiftMix(v1) * k1
	x = rotate(z+x, 39) * k1
	y = rotate(y, 33) * k1
	for left := (n - 1) &^ 63; left != 0; left, s = left-64, s[64:] {
		x = rotate(x+y+v0+fetch64(s[16:]), 37) * k1
		y = rotate(y+v1+fetch64(s[48:]), 42) * k1
		x ^= w1
		y ^= v0
		z = rotate(z^w0, 33)
		v0, v1 = weak(s, v1*k1, x+w0)
		w0, w1 = weak(s[32:], z+w1, y)
		z, x = x, z
	}
	return hash16(hash16(v0, w0)+shiftMix(y)*k1+z, hash16(v1, w1)+x)
}

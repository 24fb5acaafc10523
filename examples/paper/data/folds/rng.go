package folds

// rng is R's default generator: the Mersenne Twister of Matsumoto and Nishimura
// (1998), seeded as set.seed does, and whole numbers drawn by rejection, as R does
// since 3.6.
type rng struct {
	state [624]uint32
	at    int
}

// newRNG is set.seed(seed).
func newRNG(seed uint32) *rng {
	r := &rng{at: len(rng{}.state)}
	next := func() uint32 { seed = 69069*seed + 1; return seed }
	for range 51 { // 50 to scramble, one for the position, which starts at the end
		next()
	}
	for i := range r.state {
		r.state[i] = next()
	}
	return r
}

// uniform is runif(1).
func (r *rng) uniform() float64 {
	const m = 397
	n := len(r.state)
	if r.at == n {
		for i := range r.state {
			y := r.state[i]&0x80000000 | r.state[(i+1)%n]&0x7fffffff
			r.state[i] = r.state[(i+m)%n] ^ y>>1 ^ -(y&1)&0x9908b0df
		}
		r.at = 0
	}
	y := r.state[r.at]
	r.at++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	y ^= y >> 18
	u := float64(y) * 2.3283064365386963e-10
	return min(max(u, 0.5*2.328306437080797e-10), 1-0.5*2.328306437080797e-10)
}

// index is a number from 0 to n-1: bits are drawn, 16 at a time, until they are
// below n.
func (r *rng) index(n int) int {
	bits := 0
	for 1<<bits < n {
		bits++
	}
	for {
		v := 0
		for drawn := 0; drawn <= bits; drawn += 16 {
			v = 65536*v + int(r.uniform()*65536)
		}
		if v &= 1<<bits - 1; v < n {
			return v
		}
	}
}

// sample draws size of the values without replacement: sample(values, size).
func (r *rng) sample(values []int, size int) []int {
	left := append([]int(nil), values...)
	var out []int
	for range size {
		j := r.index(len(left))
		out = append(out, left[j])
		left[j] = left[len(left)-1]
		left = left[:len(left)-1]
	}
	return out
}

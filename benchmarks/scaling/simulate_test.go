package main

import (
	"math"
	"math/rand/v2"
	"testing"
)

func random() *rand.Rand { return rand.New(rand.NewPCG(3, 4)) }

// One kind worker and no merges: the time is the sum of what it does.
func TestOneWorker(t *testing.T) {
	c := &Costs{Row: 1e-6, Explain: 2e-6, Scan: 1e-7, Chunk: 4096, Bytes: 1e6, Take: 0.01, Solve: 5}
	cl := &Cluster{Workers: 1, Bandwidth: 1e9, FanIn: 1 << 30}
	const rows = 1 << 22
	out := simulate(rows, c, cl, random())
	// Four shards of each pass, each writes its part; then they are merged and the total is fetched.
	parts := 3 * (4 + 4 + 1 + 1.0) // written, fetched, written again, fetched
	want := rows*3.1e-6 + 5 + (parts*2.0/3*1e6+parts/3*64e3)/1e9 + 2*4*0.01 + 4*1e-3
	if math.Abs(out.Seconds-want) > 1e-9*want || out.Retried != 0 || out.Shards != 4 {
		t.Errorf("%v seconds, want %v; %+v", out.Seconds, want, out)
	}
}

// Twice the workers halve the time as long as shards are many, merging costs nothing, and nobody fails.
func TestLinear(t *testing.T) {
	c := &Costs{Row: 1e-6, Explain: 1e-6, Scan: 1e-7, Chunk: 4096}
	one := simulate(1<<30, c, &Cluster{Workers: 1, Bandwidth: 1e9, FanIn: 8}, random())
	many := simulate(1<<30, c, &Cluster{Workers: 64, Bandwidth: 1e9, FanIn: 8}, random())
	if speedup := one.Seconds / many.Seconds; speedup < 60 || speedup > 64.001 {
		t.Errorf("64 workers are %.1f times as fast", speedup)
	}
}

// All shards are merged into one part whatever fails: bytes moved are at least those of one part a shard.
func TestFailuresAreRetried(t *testing.T) {
	c := &Costs{Row: 1e-5, Explain: 1e-5, Scan: 1e-7, Chunk: 4096, Bytes: 1e6, Take: 0.01}
	kind := &Cluster{Workers: 16, Bandwidth: 1e9, FanIn: 8}
	unkind := *kind
	unkind.Failures = 20
	a, b := simulate(1<<28, c, kind, random()), simulate(1<<28, c, &unkind, random())
	if b.Retried == 0 || b.Seconds <= a.Seconds || b.Busy <= a.Busy {
		t.Errorf("without failures %+v, with %+v", a, b)
	}
	if least := 2 * float64(a.Shards) * c.Bytes; a.Moved < least {
		t.Errorf("%v bytes moved, at least %v are", a.Moved, least)
	}
}

// Shards are whole nodes of the tree.
func TestShards(t *testing.T) {
	for _, c := range []struct{ chunks, wanted, want int }{{1, 4, 1}, {12, 4000, 12}, {1000, 4, 8}, {1000, 40, 63}, {24415, 4000, 6104}, {1024, 4, 4}} {
		if got := shards(c.chunks, c.wanted); got != c.want {
			t.Errorf("%d chunks for %d: %d shards, want %d", c.chunks, c.wanted, got, c.want)
		}
	}
}

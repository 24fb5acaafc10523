package moments_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/design"
)

// leaves cuts s into chunks of the given rows.
func (s rowset) leaves(t fataler, rows int) []*moments.Moments {
	var out []*moments.Moments
	for i := 0; i < s.rows(); i += rows {
		out = append(out, s.moments(t, i, min(i+rows, s.rows()), 100))
	}
	return out
}

func sum(t fataler, l moments.Layout, leaves []*moments.Moments, first, next int) *moments.Sum {
	s := moments.NewSum(l, first)
	for _, m := range leaves[first:next] {
		if err := s.Append(m.Clone()); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// Shards that meet at chunk boundaries, merged in any order of neighbours, have
// the bytes of one pass, and so has their total.
func TestShards(t *testing.T) {
	s := awkward(61*23+7, true, 21)
	leaves := s.leaves(t, 23)
	n := len(leaves)
	one := sum(t, s.layout, leaves, 0, n)
	want, wantTotal := marshal(t, one), marshal(t, one.Total())

	for cut := range n + 1 { // every boundary, from both sides
		left, right := sum(t, s.layout, leaves, 0, cut), sum(t, s.layout, leaves, cut, n)
		before := marshal(t, left)
		if err := right.Merge(left); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(marshal(t, right), want) {
			t.Errorf("cut at chunk %d: other bytes", cut)
		}
		if !bytes.Equal(marshal(t, left), before) {
			t.Errorf("cut at chunk %d: Merge changed its operand", cut)
		}
	}

	rapid.Check(t, func(t *rapid.T) {
		var shards []*moments.Sum
		at := 0
		for at < n {
			next := rapid.IntRange(at, n).Draw(t, "next")
			if rapid.Bool().Draw(t, "rest") {
				next = n
			}
			shard := sum(t, s.layout, leaves, at, next)
			if rapid.Bool().Draw(t, "stored") {
				stored := new(moments.Sum)
				if err := stored.UnmarshalBinary(marshal(t, shard)); err != nil {
					t.Fatal(err)
				}
				shard = stored
			}
			shards = append(shards, shard)
			at = next
		}
		for len(shards) > 1 {
			i := rapid.IntRange(0, len(shards)-2).Draw(t, "pair")
			to, from := shards[i], shards[i+1]
			if rapid.Bool().Draw(t, "backwards") {
				to, from = from, to
			}
			if err := to.Merge(from); err != nil {
				t.Fatal(err)
			}
			shards[i] = to
			shards = append(shards[:i+1], shards[i+2:]...)
		}
		if !bytes.Equal(marshal(t, shards[0]), want) {
			t.Fatal("merged shards have other bytes")
		}
		if !bytes.Equal(marshal(t, shards[0].Total()), wantTotal) {
			t.Fatal("the total has other bytes")
		}
		if !bytes.Equal(marshal(t, shards[0]), want) {
			t.Fatal("Total changed the sum")
		}
	})

	// The check can fail: one bit of one row in one shard shows.
	leaves[17].SumLogW += 1e-9
	if bytes.Equal(marshal(t, sum(t, s.layout, leaves, 0, n)), want) {
		t.Error("a changed chunk leaves the same bytes")
	}
}

func TestTotalAgreesWithOnePass(t *testing.T) {
	s := awkward(3000, true, 22)
	whole := s.moments(t, 0, 3000, 3000)
	leaves := s.leaves(t, 256)
	if d := difference(sum(t, s.layout, leaves, 0, len(leaves)).Total(), whole); d > 1e-12 {
		t.Errorf("total and one pass differ by %.1e", d)
	}
}

// TestTraceOfSums: the trace is that of the products of all rows.
func TestTraceOfSums(t *testing.T) {
	s := awkward(3000, true, 22)
	random := rand.New(rand.NewPCG(1, 2))
	for _, factor := range []bool{false, true} {
		s.layout.Factor = factor
		leaves := s.leaves(t, 256)
		all := sum(t, s.layout, leaves, 0, len(leaves))
		for k, bases := range s.layout.Predictors {
			for _, some := range [][]int{{0}, {2}, {0, 2, 3}, {3, 0, 2}, {len(bases) - 1}, {len(bases) - 1, 0}} {
				c := all.Total().Predictor(k).Products(some...)
				n := c.SymmetricDim()
				v, want := mat.NewSymDense(n, nil), 0.0
				for i := range n {
					for j := i; j < n; j++ {
						v.SetSym(i, j, random.NormFloat64())
					}
				}
				for i := range n {
					for j := range n {
						want += v.At(i, j) * c.At(i, j)
					}
				}
				if got := all.Trace(v, k, some...); math.Abs(got-want) > 1e-11*mat.Norm(v, 2)*mat.Norm(c, 2) {
					t.Errorf("factor %t, predictor %d, bases %v: trace %.17g, of all products %.17g", factor, k, some, got, want)
				}
			}
		}
	}
}

func TestSumFaults(t *testing.T) {
	s := awkward(100, false, 23)
	leaves := s.leaves(t, 10)
	a := sum(t, s.layout, leaves, 2, 5)
	if got := fmt.Sprint(a.Runs()); got != "[[2 5]]" {
		t.Errorf("chunks %s", got)
	}
	before := marshal(t, a)
	other := s.layout
	other.Responses++
	for _, c := range []struct {
		other *moments.Sum
		want  string
	}{
		{sum(t, s.layout, leaves, 4, 7), "moments: chunk 4 is there already: the same rows came twice, or shards begin at the same chunk"},
		{sum(t, s.layout, leaves, 0, 4), "moments: chunks 2 to 3 are there already: the same rows came twice, or shards begin at the same chunk"},
		{moments.NewSum(other, 5), "moments: merge of sums with different layouts; shards of one decomposition share their terms and responses"},
		{a, "moments: chunks 2 to 4 are there already: the same rows came twice, or shards begin at the same chunk"},
		{nil, "moments: merge of sums with different layouts; shards of one decomposition share their terms and responses"},
	} {
		if err := a.Merge(c.other); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	if err := a.Append(moments.New(other)); err == nil || !strings.Contains(err.Error(), "chunk 5 has another layout") {
		t.Errorf("Append of another layout: %v", err)
	}
	if err := a.Append(nil); err == nil {
		t.Error("Append of nothing")
	}
	year := s.x[0].(design.Dense)
	year.Set(0, 1, 1e200)
	if err := a.Append(s.moments(t, 0, 10, 10)); err == nil || err.Error() != `moments: basis "year": the squares of column 1 overflow; rescale it (chunk 5)` {
		t.Errorf("Append of overflowing squares: %v", err)
	}
	if !bytes.Equal(marshal(t, a), before) {
		t.Error("refused operands left traces")
	}
	empty := moments.NewSum(s.layout, 5)
	if err := empty.Merge(moments.NewSum(s.layout, 5)); err != nil {
		t.Error(err)
	}
	if total := empty.Total(); total.Rows != 0 || total.Check() != nil {
		t.Error("total of no chunks")
	}
}

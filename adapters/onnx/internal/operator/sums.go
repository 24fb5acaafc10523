package operator

import (
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/kernel"
)

// summing is reduction by sums.
func summing[T kernel.Float](name string, versions []int, rule func(*graph.Node) Rule, end func(s T, n int) T) Entry[T] {
	e := reduction(name, versions, rule, 0, func(s, v T) T { return s + v }, end)
	general := e.Compile
	e.Compile = func(n *graph.Node) Step[T] {
		set := n.Resolved.(*reduced).axes
		first := slices.Index(set, true)
		if !n.Inputs[0].Type.Floating() || first < 0 || slices.Contains(set[first:], false) {
			return general(n)
		}
		return func(x *Exec[T]) error {
			size := graph.Product(x.In[0].Shape[first:])
			sumRuns(x.Out[0].F, x.In[0].F, size)
			for i, s := range x.Out[0].F {
				x.Out[0].F[i] = end(s, size)
			}
			return nil
		}
	}
	return e
}

// sumRuns sums runs of n numbers, each in order, eight side by side: a sum waits for itself.
func sumRuns[T kernel.Float](dst, in []T, n int) {
	for len(dst) >= 8 {
		var s0, s1, s2, s3, s4, s5, s6, s7 T
		for i := range n {
			at := in[i : i+7*n+1]
			s0, s1, s2, s3 = s0+at[0], s1+at[n], s2+at[2*n], s3+at[3*n]
			s4, s5, s6, s7 = s4+at[4*n], s5+at[5*n], s6+at[6*n], s7+at[7*n]
		}
		dst[0], dst[1], dst[2], dst[3] = s0, s1, s2, s3
		dst[4], dst[5], dst[6], dst[7] = s4, s5, s6, s7
		dst, in = dst[8:], in[8*n:]
	}
	for len(dst) >= 4 {
		a, b, c, d := in[:n], in[n:2*n], in[2*n:3*n], in[3*n:4*n]
		b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
		var sa, sb, sc, sd T
		for i, x := range a {
			sa, sb, sc, sd = sa+x, sb+b[i], sc+c[i], sd+d[i]
		}
		dst[0], dst[1], dst[2], dst[3] = sa, sb, sc, sd
		dst, in = dst[4:], in[4*n:]
	}
	for k := range dst {
		var s T
		for _, x := range in[:n] {
			s += x
		}
		dst[k], in = s, in[n:]
	}
}

package operator

import (
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// picks says which element of the input every element of the output copies: along axis i
// that at[i][o], or none if it is negative. A nil at[i] leaves the axis as it is.
type picks struct {
	at [][]int
	// lo, hi and from: along the last axis, places lo to hi-1 copy elements from on, one
	// after the other, if adjacent, and the others none.
	lo, hi, from int
	adjacent     bool
}

func newPicks(at [][]int) *picks {
	p := &picks{at: at}
	if len(at) == 0 || at[len(at)-1] == nil {
		return p
	}
	last := at[len(at)-1]
	for p.lo < len(last) && last[p.lo] < 0 {
		p.lo++
	}
	p.hi = p.lo
	if p.lo < len(last) {
		p.from = last[p.lo]
	}
	for p.hi < len(last) && last[p.hi] == p.from+p.hi-p.lo {
		p.hi++
	}
	p.adjacent = true
	for _, k := range last[p.hi:] {
		p.adjacent = p.adjacent && k < 0
	}
	return p
}

// pick copies in, of shape size, to out, of shape to, and fills in what copies none.
func pick[E any](out, in []E, fill E, to, size []int, p *picks) {
	if len(to) == 0 {
		out[0] = in[0]
		return
	}
	var buf, at [graph.MaxRank]int
	stride := denseStrides(buf[:0], size)
	last := len(to) - 1
	for n := to[last]; len(out) > 0; out = out[n:] {
		base, some := 0, true
		for i := range last {
			k := at[i]
			if p.at[i] != nil {
				k = p.at[i][k]
			}
			base += k * stride[i]
			some = some && k >= 0
		}
		if some {
			pickRun(p, out[:n], in, base, fill)
		} else {
			fillWith(out[:n], fill)
		}
		for i := last - 1; i >= 0; i-- {
			if at[i]++; at[i] < to[i] {
				break
			}
			at[i] = 0
		}
	}
}

// pickRun is pick along the last axis, the elements of which begin at base.
func pickRun[E any](p *picks, out, in []E, base int, fill E) {
	last := p.at[len(p.at)-1]
	switch {
	case last == nil:
		copy(out, in[base:base+len(out)])
	case p.adjacent:
		fillWith(out[:p.lo], fill)
		copy(out[p.lo:p.hi], in[base+p.from:])
		fillWith(out[p.hi:], fill)
	default:
		for i, k := range last {
			if out[i] = fill; k >= 0 {
				out[i] = in[base+k]
			}
		}
	}
}

func fillWith[E any](out []E, v E) {
	for i := range out {
		out[i] = v
	}
}

// pickTensor is pick of either kind of numbers, filled with a number of that kind.
func pickTensor[T kernel.Float](x *Exec[T], p *picks, fill float64, whole int64) {
	in, out := x.In[0], x.Out[0]
	if out.F != nil {
		pick(out.F, in.F, T(fill), out.Shape, in.Shape, p)
	} else {
		pick(out.I, in.I, whole, out.Shape, in.Shape, p)
	}
}

// pickRule copies an element of the first input, or is the number fill.
func pickRule(n *graph.Node, p *picks, fill float64) Rule {
	in, out := n.Inputs[0].RowShape(), n.Outputs[0].RowShape()
	stride, c := rowMajor(in), make([]int, len(out))
	return Rule{Linear: true, Cost: 1, Each: func(_, e int, yield Link) {
		unravel(e, out, c)
		j := 0
		for i, k := range c {
			if p.at[i] != nil {
				k = p.at[i][k]
			}
			if k < 0 {
				yield(Itself, 0, fill)
				return
			}
			j += k * stride[i]
		}
		yield(0, j, 1)
	}}
}

package operator

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// linearAttentionOps keep a matrix of each head, to which every position adds.
func linearAttentionOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "LinearAttention", Versions: []int{27}, Min: 3, Max: 6, Outputs: 2, AnyLayout: true, Check: checkLinearAttention},
			Rule: linearAttentionRule, Compile: compileLinearAttention[T]},
	}
}

// linearAttention is a LinearAttention with everything resolved. The state S of a head of
// keys and values is k.size x v.size; at each position
//
//	S = exp(decay) S;  v = beta (v - S'k);  S = S + k v';  output = scale S'q
//
// of which the first two are those of rules that have a decay, or a beta.
type linearAttention struct {
	q, k, v, decay, beta heads
	scale                float64
}

// The inputs of LinearAttention behind query, key and value.
const (
	linearPast = iota + 3
	linearDecay
	linearBeta
)

func (a *linearAttention) Scratch() int { return a.k.size*a.v.size + a.v.size }

func checkLinearAttention(c *graph.Check) error {
	a := &linearAttention{}
	rule := "gated_delta"
	if r, ok := c.Attrs["update_rule"]; ok {
		rule = r.String
	}
	if !slices.Contains([]string{"linear", "gated", "delta", "gated_delta"}, rule) {
		return fmt.Errorf("update_rule %q is none of linear, gated, delta and gated_delta", rule)
	}
	if gated := strings.HasPrefix(rule, "gated"); c.Has(linearDecay) != gated {
		return fmt.Errorf("update_rule %q has a decay: %t; one is given: %t", rule, gated, !gated)
	}
	if corrected := strings.HasSuffix(rule, "delta"); c.Has(linearBeta) != corrected {
		return fmt.Errorf("update_rule %q has a beta: %t; one is given: %t", rule, corrected, !corrected)
	}
	batch := c.Inputs[0].Shape
	for i, v := range c.Inputs {
		if v != nil && (len(v.Shape) < 3 || len(batch) < 3 || v.Shape[0] != batch[0] || !v.Type.Floating() || i != linearPast && (len(v.Shape) != 3 || v.Shape[1] != batch[1])) {
			return fmt.Errorf("input %d (%q) of shape %s does not fit the query, [rows positions heads*size]", i, v.Name, graph.ShapeText(v.Shape))
		}
	}
	var err error
	for i, h := range []*heads{&a.q, &a.k, &a.v} {
		if *h, err = headsOf(c, c.Inputs[i], []string{"q_num_heads", "kv_num_heads", "kv_num_heads"}[i]); err != nil {
			return err
		}
	}
	if a.q.count%a.k.count != 0 || a.q.size != a.k.size || a.q.size == 0 {
		return fmt.Errorf("%d heads of %d do not fit %d heads of %d for keys", a.q.count, a.q.size, a.k.count, a.k.size)
	}
	if err := errors.Join(a.checkGates(c), a.checkState(c)); err != nil {
		return err
	}
	if a.scale = c.AttrFloat("scale", 0); a.scale == 0 {
		a.scale = 1 / math.Sqrt(float64(a.k.size))
	}
	c.Resolved = a
	return a.setOutputs(c)
}

// checkGates: a decay for each number of a key, or for each head; a beta for each head, or
// for all.
func (a *linearAttention) checkGates(c *graph.Check) error {
	if c.Has(linearDecay) {
		switch d := c.Inputs[linearDecay].Shape[2]; d {
		case a.k.count:
			a.decay = heads{a.k.count, a.k.length, 1, true}
		case a.k.count * a.k.size:
			a.decay = a.k
		default:
			return fmt.Errorf("decay has %d entries for %d heads of %d", d, a.k.count, a.k.size)
		}
	}
	if c.Has(linearBeta) {
		d := c.Inputs[linearBeta].Shape[2]
		if d != a.k.count && d != 1 {
			return fmt.Errorf("beta has %d entries for %d heads", d, a.k.count)
		}
		a.beta = heads{d, a.k.length, 1, true}
	}
	return nil
}

func (a *linearAttention) checkState(c *graph.Check) error {
	if !c.Has(linearPast) {
		return nil
	}
	v := c.Inputs[linearPast]
	if want := []int{c.Inputs[0].Shape[0], a.k.count, a.k.size, a.v.size}; !slices.Equal(v.Shape, want) {
		return fmt.Errorf("past_state (%q) has shape %s, needs %s", v.Name, graph.ShapeText(v.Shape), graph.ShapeText(want))
	}
	return nil
}

func (a *linearAttention) setOutputs(c *graph.Check) error {
	batch, t := c.Inputs[0].Shape[0], c.Inputs[0].Type
	width, ok := graph.Elements([]int{a.q.count, a.v.size})
	state, ok2 := graph.Elements([]int{a.k.size, a.v.size})
	if !ok || !ok2 {
		return errors.New("the output overflows")
	}
	stored := t
	if c.Has(linearPast) {
		stored = c.Inputs[linearPast].Type
	}
	shape := []int{batch, a.k.count, a.k.size, a.v.size}
	if err := c.Fits(state, "the state of a head", shape[2:]); err != nil {
		return err
	}
	if err := errors.Join(c.Set(0, t, []int{batch, a.q.length, width}), c.Set(1, stored, shape)); err != nil {
		return err
	}
	return c.MultiplyAdds([]int{batch, a.q.length, 3*a.k.count + a.q.count}, state)
}

func compileLinearAttention[T kernel.Float](n *graph.Node) Step[T] {
	a := n.Resolved.(*linearAttention)
	return func(x *Exec[T]) error {
		temp := x.temp(a.Scratch())
		state, value := temp[:a.k.size*a.v.size], temp[a.k.size*a.v.size:]
		for b := range x.In[0].Shape[0] {
			for h := range a.k.count {
				at := (b*a.k.count + h) * len(state)
				clear(state)
				if len(x.In) > linearPast && x.In[linearPast].F != nil {
					copy(state, x.In[linearPast].F[at:])
				}
				for i := range a.k.length {
					update(a, x, state, value, b, h, i)
					recall(a, x, state, b, h, i)
				}
				if len(x.Out) > 1 && x.Out[1].F != nil {
					copy(x.Out[1].F[at:], state)
				}
			}
		}
		return nil
	}
}

// update adds position i to the state of a head.
func update[T kernel.Float](a *linearAttention, x *Exec[T], state, value []T, b, h, i int) {
	at, n := a.k.row(b, h, i), a.v.size
	key := x.In[1].F[at : at+a.k.size]
	at = a.v.row(b, h, i)
	copy(value, x.In[2].F[at:at+n])
	if a.decay.count > 0 {
		at = a.decay.row(b, h, i)
		g := x.In[linearDecay].F[at : at+a.decay.size]
		for d := range key {
			keep := T(math.Exp(float64(g[min(d, len(g)-1)])))
			for j, s := range state[d*n : (d+1)*n] {
				state[d*n+j] = s * keep
			}
		}
	}
	if a.beta.count > 0 {
		for d, k := range key {
			kernel.Axpy(value, state[d*n:(d+1)*n], -k)
		}
		beta := x.In[linearBeta].F[a.beta.row(b, min(h, a.beta.count-1), i)]
		for j := range value {
			value[j] *= beta
		}
	}
	for d, k := range key {
		kernel.Axpy(state[d*n:(d+1)*n], value, k)
	}
}

// recall writes the outputs of position i of the query heads that share a state.
func recall[T kernel.Float](a *linearAttention, x *Exec[T], state []T, b, h, i int) {
	shared, n := a.q.count/a.k.count, a.v.size
	out := heads{a.q.count, a.q.length, n, true}
	for k := h * shared; k < (h+1)*shared; k++ {
		at := out.row(b, k, i)
		dst := x.Out[0].F[at : at+n]
		clear(dst)
		at = a.q.row(b, k, i)
		for d, q := range x.In[0].F[at : at+a.q.size] {
			kernel.Axpy(dst, state[d*n:(d+1)*n], q*T(a.scale))
		}
	}
}

// linearAttentionRule: a position depends on its query and on keys, values and gates up to
// it, the state on all.
func linearAttentionRule(n *graph.Node) Rule {
	a, ok := n.Resolved.(*linearAttention)
	if !ok {
		return opaque(n)
	}
	out := heads{a.q.count, a.q.length, a.v.size, true}
	size := a.k.size + a.v.size + a.decay.size + a.beta.size
	return Rule{Cost: a.q.size + a.k.size*a.v.size + a.k.length*size, Each: func(o, e int, yield Link) {
		each := func(in int, of heads, b, h, i int) {
			first := of.row(b, min(h, of.count-1), i)
			for d := range of.size {
				yield(in, first+d, 1)
			}
		}
		b, h, last := e/(a.v.size*a.k.size*a.k.count), e/(a.v.size*a.k.size)%a.k.count, a.k.length-1
		if o == 0 {
			var head int
			b, head, last, _ = out.find(e)
			each(0, a.q, b, head, last)
			h = head / (a.q.count / a.k.count)
		}
		for i := range last + 1 {
			each(1, a.k, b, h, i)
			each(2, a.v, b, h, i)
			if a.decay.count > 0 {
				each(linearDecay, a.decay, b, h, i)
			}
			if a.beta.count > 0 {
				each(linearBeta, a.beta, b, h, i)
			}
		}
		if linearPast < len(n.Inputs) && n.Inputs[linearPast] != nil {
			for k := range a.k.size * a.v.size {
				yield(linearPast, (b*a.k.count+h)*a.k.size*a.v.size+k, 1)
			}
		}
	}}
}

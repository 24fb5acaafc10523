package operator

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// attentionOps are attentions in one node.
func attentionOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "Attention", Versions: []int{23, 24, 25}, Min: 3, Max: 7, Outputs: 4, AnyLayout: true, Check: checkAttention},
			Rule: attentionRule, Compile: compileAttention[T]},
	}
}

// The inputs of Attention behind Q, K and V.
const (
	attentionMask = iota + 3
	attentionPastKey
	attentionPastValue
	attentionValid // nonpad_kv_seqlen: how many keys of a row are no padding
)

// heads says where the matrix of a head lies in a tensor [batch, heads, length, size], or
// [batch, length, heads*size], whose batch axis comes first.
type heads struct {
	count, length, size int
	packed              bool // heads beside each other
}

// row is the offset of the first element of row i of head h, and the next row's distance.
func (h heads) row(batch, head, i int) int {
	if h.packed {
		return ((batch*h.length+i)*h.count + head) * h.size
	}
	return ((batch*h.count+head)*h.length + i) * h.size
}

// attention is an Attention with everything resolved. Its keys are the past's, then K's.
type attention struct {
	q, k, v, out        heads
	past, keys          int // numbers of keys
	scale, cap          float64
	causal              bool
	left, right         int64 // how far a query sees; < 0: without bound
	mode                int64 // what output 3 shows
	mask                []int // shape, filled up to [batch, heads, queries, keys]; nil: none
	maskKeys            int   // as many of the keys have an entry in the mask; 0 if all share one
	boolean, valid      bool
	seesBatch, seesHead bool // the bias of the scores differs by batch, or by head
}

func (a *attention) Scratch() int {
	return (a.q.length+a.keys)*a.q.size + a.keys*a.v.size + 2*a.q.length*a.keys + a.q.length*a.v.size
}

func checkAttention(c *graph.Check) error {
	if err := errors.Join(c.Floating(0), c.Floating(1), c.Floating(2)); err != nil {
		return err
	}
	a := &attention{mode: c.AttrInt("qk_matmul_output_mode", 0), cap: c.AttrFloat("softcap", 0), causal: c.AttrInt("is_causal", 0) != 0}
	for _, check := range []func(*graph.Check) error{a.checkHeads, a.checkPast, a.checkMask, a.checkReach} {
		if err := check(c); err != nil {
			return err
		}
	}
	a.scale = c.AttrFloat("scale", 1/math.Sqrt(float64(a.q.size)))
	if a.mode < 0 || a.mode > 3 {
		return fmt.Errorf("qk_matmul_output_mode %d is none of 0 to 3", a.mode)
	}
	c.Resolved = a
	return a.setOutputs(c)
}

// checkHeads reads the shapes of Q, K and V.
func (a *attention) checkHeads(c *graph.Check) error {
	q, k, v := c.Inputs[0], c.Inputs[1], c.Inputs[2]
	if k.Type != q.Type {
		return fmt.Errorf("inputs Q and K have types %s and %s", q.Type, k.Type)
	}
	if len(q.Shape) != len(k.Shape) || len(q.Shape) != len(v.Shape) || len(q.Shape) != 3 && len(q.Shape) != 4 {
		return fmt.Errorf("inputs Q, K and V must be of 3 or of 4 axes, have shapes %s, %s and %s", graph.ShapeText(q.Shape), graph.ShapeText(k.Shape), graph.ShapeText(v.Shape))
	}
	var err error
	for i, h := range []*heads{&a.q, &a.k, &a.v} {
		name := "kv_num_heads"
		if i == 0 {
			name = "q_num_heads"
		}
		if *h, err = headsOf(c, c.Inputs[i], name); err != nil {
			return err
		}
	}
	switch {
	case q.Shape[0] != k.Shape[0] || q.Shape[0] != v.Shape[0]:
		return fmt.Errorf("the first axes of Q, K and V, of shapes %s, %s and %s, are not the same rows", graph.ShapeText(q.Shape), graph.ShapeText(k.Shape), graph.ShapeText(v.Shape))
	case a.k.count != a.v.count || a.k.length != a.v.length || a.q.size != a.k.size:
		return fmt.Errorf("the heads of Q, K and V, of shapes %s, %s and %s, do not fit each other", graph.ShapeText(q.Shape), graph.ShapeText(k.Shape), graph.ShapeText(v.Shape))
	case a.q.count == 0 || a.k.count == 0 || a.q.count%a.k.count != 0:
		return fmt.Errorf("%d heads of Q do not share %d heads of K and V evenly", a.q.count, a.k.count)
	case a.q.size == 0:
		return fmt.Errorf("heads of Q, of shape %s, are empty", graph.ShapeText(q.Shape))
	}
	return nil
}

// headsOf reads a tensor's heads, whose number is an attribute if they are beside each
// other.
func headsOf(c *graph.Check, v *graph.Value, attr string) (heads, error) {
	s := v.Shape
	if graph.HasRows(s[1:]) {
		return heads{}, fmt.Errorf("mixes rows: the batch axis of %q, of shape %s, is not the first", v.Name, graph.ShapeText(s))
	}
	if len(s) == 4 {
		return heads{s[1], s[2], s[3], false}, nil
	}
	n := c.AttrInt(attr, 0)
	if n < 1 || n > int64(max(s[2], 1)) || int64(s[2])%n != 0 {
		return heads{}, fmt.Errorf("%s %d does not divide %q, of shape %s, into heads", attr, n, v.Name, graph.ShapeText(s))
	}
	return heads{int(n), s[1], s[2] / int(n), true}, nil
}

// checkPast: keys and values computed before, [batch, heads, length, size], stand before
// those of K and V.
func (a *attention) checkPast(c *graph.Check) error {
	a.keys = a.k.length
	if c.Has(attentionPastKey) != c.Has(attentionPastValue) {
		return errors.New("past_key and past_value belong together, and one is left out")
	}
	if !c.Has(attentionPastKey) {
		return nil
	}
	for i, h := range []heads{a.k, a.v} {
		v := c.Inputs[attentionPastKey+i]
		if len(v.Shape) != 4 || v.Shape[0] != c.Inputs[0].Shape[0] || v.Shape[1] != h.count || v.Shape[3] != h.size || v.Type != c.Inputs[1+i].Type {
			return fmt.Errorf("input %d (%q) must be %s [batch %d length %d], is %s %s", attentionPastKey+i, v.Name, c.Inputs[1+i].Type, h.count, h.size, v.Type, graph.ShapeText(v.Shape))
		}
		if i == 0 {
			a.past = v.Shape[2]
		} else if v.Shape[2] != a.past {
			return fmt.Errorf("past_key and past_value hold %d and %d keys", a.past, v.Shape[2])
		}
	}
	a.keys += a.past
	return nil
}

// checkMask: the mask is broadcast to [batch, heads, queries, keys]. If it is shorter than
// the keys, the last ones are not seen.
func (a *attention) checkMask(c *graph.Check) error {
	if !c.Has(attentionMask) {
		return nil
	}
	v := c.Inputs[attentionMask]
	if a.boolean = v.Type == graph.Bool; !a.boolean && !v.Type.Floating() {
		return fmt.Errorf("the mask (%q) must be bool or floating, is %s", v.Name, v.Type)
	}
	if len(v.Shape) < 1 || len(v.Shape) > 4 {
		return fmt.Errorf("the mask (%q) must have 1 to 4 axes, has shape %s", v.Name, graph.ShapeText(v.Shape))
	}
	a.mask = append(slices.Repeat([]int{1}, 4-len(v.Shape)), v.Shape...)
	for i, size := range []int{c.Inputs[0].Shape[0], a.q.count, a.q.length} {
		if d := a.mask[i]; d != 1 && d != size {
			return fmt.Errorf("the mask (%q) of shape %s does not fit scores %s", v.Name, graph.ShapeText(v.Shape), graph.ShapeText([]int{c.Inputs[0].Shape[0], a.q.count, a.q.length, a.keys}))
		}
	}
	if a.maskKeys = a.mask[3]; graph.IsRows(a.maskKeys) || a.maskKeys > a.keys || a.maskKeys == 1 && a.keys > 1 {
		return fmt.Errorf("the mask (%q) of shape %s must have an entry for each of the %d keys: runtimes disagree on one for all", v.Name, graph.ShapeText(v.Shape), a.keys)
	}
	a.seesBatch, a.seesHead = a.mask[0] != 1, a.mask[1] != 1
	return nil
}

// checkReach: how many keys are valid, and the window around a query.
func (a *attention) checkReach(c *graph.Check) error {
	a.left, a.right = -1, -1
	if c.Version >= 25 {
		a.left, a.right = c.AttrInt("left_window_size", -1), c.AttrInt("right_window_size", -1)
	}
	if a.left < -1 || a.right < -1 {
		return fmt.Errorf("windows of %d and %d keys must be -1 or not negative", a.left, a.right)
	}
	if !c.Has(attentionValid) {
		return nil
	}
	v := c.Inputs[attentionValid]
	if v.Type != graph.Int64 || len(v.Shape) != 1 || v.Shape[0] != c.Inputs[0].Shape[0] {
		return fmt.Errorf("nonpad_kv_seqlen (%q) must be int64, one for each row, is %s %s", v.Name, v.Type, graph.ShapeText(v.Shape))
	}
	if a.past > 0 || c.Has(attentionPastKey) {
		return errors.New("nonpad_kv_seqlen and past_key exclude each other")
	}
	a.valid, a.seesBatch = true, true
	return nil
}

func (a *attention) setOutputs(c *graph.Check) error {
	batch := c.Inputs[0].Shape[0]
	a.out = heads{a.q.count, a.q.length, a.v.size, a.q.packed}
	y := []int{batch, a.q.count, a.q.length, a.v.size}
	if a.q.packed {
		width, ok := graph.Elements([]int{a.q.count, a.v.size})
		if !ok {
			return errors.New("the output overflows")
		}
		y = []int{batch, a.q.length, width}
	}
	scores := []int{batch, a.q.count, a.q.length, a.keys}
	shapes := [][]int{y, {batch, a.k.count, a.keys, a.k.size}, {batch, a.v.count, a.keys, a.v.size}, scores}
	for i, from := range []int{2, 1, 2, 0} {
		n, ok := graph.Elements(shapes[i])
		if !ok {
			return fmt.Errorf("output %d of shape %s overflows", i, graph.ShapeText(shapes[i]))
		}
		if err := c.Fits(n, "the scores, or an output,", shapes[i]); err != nil {
			return err
		}
		t := c.Inputs[from].Type
		if i == 0 {
			t = c.Inputs[0].Type
		}
		if err := c.Set(i, t, shapes[i]); err != nil {
			return err
		}
	}
	return c.MultiplyAdds(scores, a.q.size+a.v.size)
}

// seen reports whether query i may attend key j by its place, given the number of keys
// before the queries.
func (a *attention) seen(i, j int, offset int64) bool {
	at := int64(i) + offset
	return !(a.causal && int64(j) > at || a.left >= 0 && int64(j) < at-a.left || a.right >= 0 && int64(j)-a.right > at)
}

// bounded reports whether places decide what is seen.
func (a *attention) bounded() bool { return a.causal || a.left >= 0 || a.right >= 0 }

// before is the number of keys before the queries of a row of which valid are no padding.
func (a *attention) before(valid int64) int64 {
	if a.valid {
		return valid - int64(a.q.length)
	}
	return int64(a.past)
}

// attentionRule: a query's result depends on the query and on the keys, values and mask
// that it may see.
func attentionRule(n *graph.Node) Rule {
	a, ok := n.Resolved.(*attention)
	if !ok {
		return opaque(n)
	}
	cost := a.q.size + a.keys*(a.k.size+3)
	return Rule{Cost: cost, Each: func(o, e int, yield Link) {
		switch o {
		case 0:
			b, h, i, d := a.out.find(e)
			a.links(b, h, i, yield)
			for j := range a.keys {
				if a.mayEver(i, j) {
					a.link(b, h/(a.q.count/a.k.count), j, 2, attentionPastValue, a.v, yield, d, d+1)
				}
			}
		case 3:
			j, i, h, b := e%a.keys, e/a.keys%a.q.length, e/(a.keys*a.q.length)%a.q.count, e/(a.keys*a.q.length*a.q.count)
			if a.mode == 3 {
				a.links(b, h, i, yield)
				return
			}
			a.queryLinks(b, h, i, yield)
			a.scoreLinks(b, h, i, j, yield)
		default:
			of, past := a.k, attentionPastKey
			if o == 2 {
				of, past = a.v, attentionPastValue
			}
			d, j, h, b := e%of.size, e/of.size%a.keys, e/(of.size*a.keys)%of.count, e/(of.size*a.keys*of.count)
			a.link(b, h, j, o, past, of, yield, d, d+1)
		}
	}}
}

// find is the place of element e.
func (h heads) find(e int) (batch, head, i, d int) {
	d, e = e%h.size, e/h.size
	if h.packed {
		return e / (h.count * h.length), e % h.count, e / h.count % h.length, d
	}
	return e / (h.length * h.count), e / h.length % h.count, e % h.length, d
}

// mayEver reports whether query i may see key j in some row.
func (a *attention) mayEver(i, j int) bool {
	return a.valid || !a.bounded() || a.seen(i, j, int64(a.past))
}

// links are those of the scores of query i.
func (a *attention) links(b, h, i int, yield Link) {
	a.queryLinks(b, h, i, yield)
	for j := range a.keys {
		if a.mayEver(i, j) {
			a.scoreLinks(b, h, i, j, yield)
		}
	}
}

func (a *attention) queryLinks(b, h, i int, yield Link) {
	for d := range a.q.size {
		yield(0, a.q.row(b, h, i)+d, 1)
	}
}

func (a *attention) scoreLinks(b, h, i, j int, yield Link) {
	a.link(b, h/(a.q.count/a.k.count), j, 1, attentionPastKey, a.k, yield, 0, a.k.size)
	if a.mask != nil && j < a.maskKeys {
		at := 0
		for axis, k := range []int{b, h, i, j} {
			d := graph.PerRow(a.mask[axis])
			at = at*d + min(k, d-1)
		}
		yield(attentionMask, at, 1)
	}
	if a.valid {
		yield(attentionValid, b, 1)
	}
}

// link yields elements from:to of key or value j, which is one of the past or of input in.
func (a *attention) link(b, h, j, in, past int, of heads, yield Link, from, to int) {
	first := of.row(b, h, j-a.past)
	if j < a.past {
		in, first = past, ((b*of.count+h)*a.past+j)*of.size
	}
	for d := from; d < to; d++ {
		yield(in, first+d, 1)
	}
}

package operator

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// padOps surround a tensor.
func padOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "Pad", Versions: []int{2, 11, 13, 18, 19, 21, 23, 24, 25}, Min: 1, Max: 4, Outputs: 1, AnyLayout: true, Check: checkPad},
			Rule: padRule, Compile: compilePad[T]},
		{Operator: graph.Operator{Name: "CenterCropPad", Versions: []int{18}, Min: 2, Max: 2, Outputs: 1, Check: checkCenterCropPad, SizeInputs: []int{1}},
			Rule: padRule, Compile: compilePad[T]},
	}
}

// padSizes is the elements a Pad adds before each axis, then those after.
func padSizes(c *graph.Check) ([]int64, error) {
	rank := len(c.Inputs[0].Shape)
	pads := c.Attrs["pads"].Ints
	var axes []int64
	if c.Version >= 11 {
		if !c.Has(1) {
			return nil, fmt.Errorf("has no pads")
		}
		var err error
		if pads, err = c.Ints(1); err != nil {
			return nil, err
		}
		if c.Has(3) {
			if axes, err = c.Ints(3); err != nil {
				return nil, err
			}
		}
	}
	if axes == nil {
		for i := range rank {
			axes = append(axes, int64(i))
		}
	}
	if _, err := graph.AxisSet(axes, rank); err != nil {
		return nil, err
	}
	if len(pads) != 2*len(axes) {
		return nil, fmt.Errorf("%d pads for %d axes", len(pads), len(axes))
	}
	all := make([]int64, 2*rank)
	for i, a := range axes {
		k, _ := graph.Axis(a, rank)
		all[k], all[rank+k] = pads[i], pads[len(axes)+i]
	}
	return all, nil
}

// padPlan is a Pad with its attributes resolved: where its elements come from, and what surrounds them.
type padPlan struct {
	*picks
	fill  float64
	whole int64
}

func checkPad(c *graph.Check) error {
	mode := c.Attrs["mode"].String
	if mode == "" {
		mode = "constant"
	}
	pads, err := padSizes(c)
	if err != nil {
		return err
	}
	p := &padPlan{}
	if err := errors.Join(movable(c), p.value(c)); err != nil {
		return err
	}
	in := c.Inputs[0].Shape
	out := slices.Clone(in)
	for i, d := range in {
		before, after := pads[i], pads[len(in)+i]
		if graph.IsRows(d) {
			if before != 0 || after != 0 {
				return fmt.Errorf("mixes rows: it pads the batch axis %d", i)
			}
			continue
		}
		if max(before, after) > math.MaxInt32 || min(before, after) < -int64(d) || int64(d)+before+after < 0 {
			return fmt.Errorf("pads %v are huge, or take away more than axis %d has (%d)", pads, i, d)
		}
		out[i] += int(before + after)
	}
	if err := setFitting(c, out); err != nil {
		return err
	}
	at := make([][]int, len(in))
	for i, d := range in {
		before, after := int(pads[i]), int(pads[len(in)+i])
		if before == 0 && after == 0 {
			continue
		}
		if at[i], err = padAxis(mode, d, before, after); err != nil {
			return fmt.Errorf("axis %d: %w", i, err)
		}
	}
	p.picks = newPicks(at)
	c.Resolved = p
	return nil
}

// value reads the number that surrounds the tensor.
func (p *padPlan) value(c *graph.Check) error {
	p.fill = c.AttrFloat("value", 0)
	if c.Version < 11 {
		return nil
	}
	p.fill = 0
	if !c.Has(2) {
		return nil
	}
	v := c.Inputs[2].Const
	if v == nil || len(v.F)+len(v.I) != 1 {
		return fmt.Errorf("the padding value (%q) must be a constant scalar", c.Inputs[2].Name)
	}
	if v.F != nil {
		p.fill = v.F[0]
	} else {
		p.whole, p.fill = v.I[0], float64(v.I[0])
	}
	return nil
}

// padAxis is where the elements of a padded axis of n come from. Negative pads take
// elements away, before the others are added.
func padAxis(mode string, n, before, after int) ([]int, error) {
	first, left := max(-before, 0), n+min(before, 0)+min(after, 0)
	at := make([]int, n+before+after)
	for o := range at {
		k := o - max(before, 0) // counted from first
		switch {
		case k >= 0 && k < left:
		case mode == "constant":
			at[o] = -1
			continue
		case left < 1:
			return nil, fmt.Errorf("mode %q has no element to repeat", mode)
		case mode == "edge":
			k = min(max(k, 0), left-1)
		case mode == "reflect":
			k = reflected(k, left)
		case mode == "wrap":
			k = (k%left + left) % left
		default:
			return nil, fmt.Errorf("mode %q is none of constant, edge, reflect and wrap", mode)
		}
		at[o] = first + k
	}
	return at, nil
}

// reflected is the place of k in 0, ..., n-1, n-2, ..., 0, 1, ...
func reflected(k, n int) int {
	if n == 1 {
		return 0
	}
	period := 2 * (n - 1)
	k = (k%period + period) % period
	return min(k, period-k)
}

func compilePad[T kernel.Float](n *graph.Node) Step[T] {
	p := n.Resolved.(*padPlan)
	return func(x *Exec[T]) error {
		pickTensor(x, p.picks, p.fill, p.whole)
		return nil
	}
}

// padRule copies the input into the middle of a constant.
func padRule(n *graph.Node) Rule {
	p, ok := n.Resolved.(*padPlan)
	if !ok {
		return opaque(n)
	}
	return pickRule(n, p.picks, p.fill)
}

// checkCenterCropPad cuts off, or adds, as much before as behind; one more behind.
func checkCenterCropPad(c *graph.Check) error {
	in := c.Inputs[0].Shape
	to, err := targetShape(c, 1, nil)
	if err = errors.Join(err, movable(c)); err != nil {
		return err
	}
	axes := c.Attrs["axes"].Ints
	if axes == nil {
		for i := range in {
			axes = append(axes, int64(i))
		}
	}
	if _, err := graph.AxisSet(axes, len(in)); err != nil {
		return err
	}
	if len(to) != len(axes) {
		return fmt.Errorf("%d sizes for %d axes", len(to), len(axes))
	}
	out := slices.Clone(in)
	for k, a := range axes {
		i, _ := graph.Axis(a, len(in))
		if graph.IsRows(in[i]) && to[k] != in[i] {
			return fmt.Errorf("mixes rows: it gives the batch axis %d the fixed size %d; name the other axes in the attribute axes", i, to[k])
		}
		out[i] = to[k]
	}
	if err := setFitting(c, out); err != nil {
		return err
	}
	at := make([][]int, len(in))
	for i, d := range out {
		if d == in[i] {
			continue
		}
		before := (d - in[i]) / 2 // towards 0, both for more and for less
		if at[i], err = padAxis("constant", in[i], before, d-in[i]-before); err != nil {
			return err
		}
	}
	c.Resolved = &padPlan{picks: newPicks(at)}
	return nil
}

package operator

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// resizeOps stretch and shrink axes.
func resizeOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "Resize", Versions: []int{10, 11, 13, 18, 19}, Min: 1, Max: 4, Outputs: 1, Check: checkResize, SizeInputs: []int{3}},
			Rule: resizeRule, Compile: compileResize[T]},
		{Operator: graph.Operator{Name: "Upsample", Versions: []int{1, 7, 9}, Min: 1, Max: 2, Outputs: 1, Check: checkResize},
			Rule: resizeRule, Compile: compileResize[T]},
	}
}

// resizing is a Resize with its attributes resolved. Of the nearest elements it is a
// padPlan; else each axis that changes has its weights.
type resizing struct {
	axes    []axisWeights
	largest int     // numbers of a row after any but the last of axes
	fill    float64 // where an axis has no weights: extrapolation_value
}

// Scratch holds what is between two axes, twice.
func (r *resizing) Scratch() int {
	if len(r.axes) < 2 {
		return 0
	}
	return 2 * r.largest
}

// axisWeights are, for every place of an axis, the elements that it is the weighted sum
// of, none where it is outside of the tensor.
type axisWeights struct {
	axis    int
	weights [][]weighted
}

type weighted struct {
	at int
	w  float64
}

func checkResize(c *graph.Check) error {
	m, err := resizeMode(c)
	if err != nil {
		return err
	}
	axes, err := resizedAxes(c, m)
	if err != nil {
		return err
	}
	in := c.Inputs[0]
	out, work := slices.Clone(in.Shape), 0
	for i, a := range axes {
		if graph.IsRows(in.Shape[i]) {
			continue
		}
		if a.out < 1 || a.out > math.MaxInt32 || a.in < 1 || a.in > math.MaxInt32 {
			return fmt.Errorf("cannot make %d of the %d elements along axis %d", a.out, a.in, i)
		}
		out[i] = a.out
		work += a.in + a.out
	}
	if err := setFitting(c, out); err != nil {
		return err
	}
	if err := c.Fits(4*work, "the weights", out); err != nil {
		return err
	}
	if m.kind == "nearest" {
		c.Resolved = m.nearestPicks(axes)
		return nil
	}
	return m.weigh(c, axes)
}

// resizeMode reads the attributes, with the meaning of the opset.
func resizeMode(c *graph.Check) (*interpolation, error) {
	text := func(name, def string) string {
		if s := c.Attrs[name].String; s != "" {
			return s
		}
		return def
	}
	m := &interpolation{kind: text("mode", "nearest"), coordinate: text("coordinate_transformation_mode", "half_pixel"), nearest: text("nearest_mode", "round_prefer_floor"),
		cubic: c.AttrFloat("cubic_coeff_a", -0.75), excludeOutside: c.AttrInt("exclude_outside", 0) != 0, antialias: c.AttrInt("antialias", 0) != 0,
		fill: c.AttrFloat("extrapolation_value", 0)}
	if c.Op == "Upsample" || c.Version < 11 {
		m.coordinate, m.nearest = "asymmetric", "simple"
	}
	if m.kind == "bilinear" && c.Op == "Upsample" {
		m.kind = "linear"
	}
	if !slices.Contains([]string{"nearest", "linear", "cubic"}, m.kind) {
		return nil, fmt.Errorf("mode %q is none of nearest, linear and cubic", m.kind)
	}
	if !slices.Contains([]string{"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"}, m.coordinate) {
		return nil, fmt.Errorf("coordinate_transformation_mode %q is unknown", m.coordinate)
	}
	if !slices.Contains([]string{"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"}, m.nearest) {
		return nil, fmt.Errorf("nearest_mode %q is unknown", m.nearest)
	}
	if t := c.Inputs[0].Type; m.kind == "nearest" {
		return m, movable(c)
	} else if !t.Floating() {
		return nil, fmt.Errorf("mode %q averages input 0 (%q), which holds %s; cast it to float before", m.kind, c.Inputs[0].Name, t)
	}
	return m, nil
}

// movable requires input 0 to hold numbers or truth values.
func movable(c *graph.Check) error {
	if t := c.Inputs[0].Type; !t.Floating() && !whole(t) && t != graph.Bool {
		return fmt.Errorf("input 0 (%q) must hold numbers, is %s", c.Inputs[0].Name, t)
	}
	return nil
}

// resizedAxes reads scales or sizes, and the region of interest, for all axes.
func resizedAxes(c *graph.Check, m *interpolation) ([]axisResize, error) {
	all, chosen, err := chosenAxes(c)
	if err != nil {
		return nil, err
	}
	scales, err := resizeNumbers(c, "scales")
	if err != nil {
		return nil, err
	}
	sized := c.Op == "Resize" && c.Version >= 11 && c.Has(3) && c.Inputs[3].Width() > 0
	switch {
	case scales != nil && sized:
		err = errors.New("has both scales and sizes")
	case scales != nil:
		err = scaleAxes(chosen, scales)
	case sized:
		err = sizeAxes(c, chosen)
	default:
		err = errors.New("has neither scales nor sizes")
	}
	if err != nil {
		return nil, err
	}
	if m.coordinate == "tf_crop_and_resize" {
		if err := cropAxes(c, chosen); err != nil {
			return nil, err
		}
	}
	return all, m.settled(chosen)
}

// chosenAxes are all axes as they are, and those that the attribute axes names, in its order.
func chosenAxes(c *graph.Check) (all []axisResize, chosen []*axisResize, err error) {
	in := c.Inputs[0].Shape
	axes, given := c.Attrs["axes"].Ints, c.Attrs["axes"].Ints != nil
	for i, d := range in {
		all = append(all, axisResize{in: d, out: d, length: float64(d), scale: 1, end: 1})
		if !given {
			axes = append(axes, int64(i))
		}
	}
	if _, err := graph.AxisSet(axes, len(in)); err != nil {
		return nil, nil, err
	}
	for _, a := range axes {
		i, _ := graph.Axis(a, len(in))
		chosen = append(chosen, &all[i])
	}
	return all, chosen, nil
}

// cropAxes reads the region of interest: where it begins along each axis, then where it
// ends.
func cropAxes(c *graph.Check, chosen []*axisResize) error {
	roi, err := resizeNumbers(c, "roi")
	if err != nil {
		return err
	}
	if len(roi) != 2*len(chosen) {
		return fmt.Errorf("a region of interest of %d numbers for %d axes", len(roi), len(chosen))
	}
	for i, a := range chosen {
		if a.start, a.end = roi[i], roi[len(chosen)+i]; graph.IsRows(a.in) && (a.start != 0 || a.end != 1) {
			return errors.New("mixes rows: it crops the batch axis")
		}
	}
	return nil
}

// resizeNumbers reads the constant input scales or roi, nil if there is none.
func resizeNumbers(c *graph.Check, name string) ([]float64, error) {
	i := map[string]int{"roi": 1, "scales": 2}[name]
	switch {
	case c.Op == "Upsample" && c.Version < 9:
		if _, ok := c.Attrs["scales"]; !ok {
			return nil, errors.New("has no scales")
		}
		return c.Attrs["scales"].Floats, nil
	case c.Op == "Upsample" || c.Version < 11:
		i = 1
	}
	if !c.Has(i) {
		return nil, nil
	}
	v := c.Inputs[i]
	if v.Const == nil {
		return nil, fmt.Errorf("%s (%q) must be a constant", name, v.Name)
	}
	if !v.Type.Floating() || len(v.Shape) != 1 {
		return nil, fmt.Errorf("%s (%q) must be a vector of floating numbers, is %s %v", name, v.Name, v.Type, v.Shape)
	}
	if len(v.Const.F) == 0 {
		return nil, nil
	}
	for _, x := range v.Const.F {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("%s (%q) holds %g", name, v.Name, x)
		}
	}
	return v.Const.F, nil
}

// scaleAxes: an axis of n becomes one of floor(n scale), rounded as float.
func scaleAxes(axes []*axisResize, scales []float64) error {
	if len(scales) != len(axes) {
		return fmt.Errorf("%d scales for %d axes", len(scales), len(axes))
	}
	for i, a := range axes {
		s := scales[i]
		if !(s > 0) || s > math.MaxInt32 {
			return fmt.Errorf("impossible scale %g", s)
		}
		if graph.IsRows(a.in) {
			if s != 1 {
				return fmt.Errorf("mixes rows: it scales the batch axis by %g", s)
			}
			continue
		}
		a.scale, a.length = s, float64(a.in)*s
		a.out = int(float32(a.in) * float32(s))
	}
	return nil
}

// sizeAxes reads the sizes wanted, of which keep_aspect_ratio_policy may take one scale.
func sizeAxes(c *graph.Check, axes []*axisResize) error {
	s, ok := c.SizesOf(c.Inputs[3])
	if !ok || len(s.Shape) != 1 {
		return fmt.Errorf("the sizes (%q) must be known at load", c.Inputs[3].Name)
	}
	if len(s.D) != len(axes) {
		return fmt.Errorf("%d sizes for %d axes", len(s.D), len(axes))
	}
	policy := c.Attrs["keep_aspect_ratio_policy"].String
	for i, a := range axes {
		d := s.D[i]
		if graph.IsRows(a.in) {
			if policy != "" && policy != "stretch" {
				return errors.New("mixes rows: keep_aspect_ratio_policy compares the number of rows with sizes; name the other axes in the attribute axes")
			}
			if d.K != 1 || !d.Rows && !c.TracedWithOneRow() {
				return fmt.Errorf("mixes rows: it gives the batch axis a size of %d; export the model with a dynamic batch axis", d.K)
			}
			continue
		}
		if d.Rows || d.K < 1 || d.K > math.MaxInt32 || a.in < 1 {
			return fmt.Errorf("impossible size %d of an axis of %d", d.K, a.in)
		}
		a.out, a.length = int(d.K), float64(d.K)
		a.scale = float64(d.K) / float64(a.in)
	}
	return keepRatio(axes, policy)
}

// keepRatio gives all axes one scale, if the policy asks for it.
func keepRatio(axes []*axisResize, policy string) error {
	if policy == "" || policy == "stretch" {
		return nil
	}
	if policy != "not_larger" && policy != "not_smaller" {
		return fmt.Errorf("keep_aspect_ratio_policy %q is none of stretch, not_larger and not_smaller", policy)
	}
	common := axes[0].scale
	for _, a := range axes {
		if policy == "not_larger" {
			common = min(common, a.scale)
		} else {
			common = max(common, a.scale)
		}
	}
	for _, a := range axes {
		a.scale, a.length = common, float64(a.in)*common
		a.out = int(a.length + 0.5)
	}
	return nil
}

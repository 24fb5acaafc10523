package operator

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// windowOps make what signals are weighted with; all of it is known at load.
func windowOps[T kernel.Float]() []Entry[T] {
	cosines := func(name string, coefficients ...float64) Entry[T] {
		return Entry[T]{Operator: graph.Operator{Name: name, Versions: []int{17}, Min: 1, Max: 1, Outputs: 1, Check: checkWindow},
			Rule: opaque, Compile: compileWindow[T](coefficients)}
	}
	return []Entry[T]{
		cosines("HannWindow", 0.5, -0.5),
		cosines("HammingWindow", 25./46, -21./46),
		cosines("BlackmanWindow", 0.42, -0.5, 0.08),
		{Operator: graph.Operator{Name: "MelWeightMatrix", Versions: []int{17}, Min: 5, Max: 5, Outputs: 1, Check: checkMel},
			Rule: opaque, Compile: compileMel[T]},
	}
}

// outputType is the attribute output_datatype, which must be floating.
func outputType(c *graph.Check) (graph.DType, error) {
	t, err := graph.TypeOf(int32(c.AttrInt("output_datatype", 1)))
	if err != nil {
		return 0, err
	}
	if !t.Floating() {
		return 0, fmt.Errorf("its values are no %s; set output_datatype to float or double", t)
	}
	return t, nil
}

func checkWindow(c *graph.Check) error {
	size, err := oneInteger(c, 0)
	if err != nil {
		return err
	}
	if size < 1 || size > math.MaxInt32 {
		return fmt.Errorf("impossible size %d of a window", size)
	}
	t, err := outputType(c)
	if err != nil {
		return err
	}
	return c.Set(0, t, []int{int(size)})
}

// compileWindow is the sum over k of coefficient k times cos(2 pi k i/period).
func compileWindow[T kernel.Float](coefficients []float64) func(n *graph.Node) Step[T] {
	return func(n *graph.Node) Step[T] {
		period := float64(n.Outputs[0].Width())
		if n.AttrInt("periodic", 1) == 0 {
			period--
		}
		return func(x *Exec[T]) error {
			for i := range x.Out[0].F {
				s := 0.0
				for k, c := range coefficients {
					angle := 0.0
					if period > 0 {
						angle = 2 * math.Pi * float64(k) * float64(i) / period
					}
					s += c * math.Cos(angle)
				}
				x.Out[0].F[i] = T(s)
			}
			return nil
		}
	}
}

// mel is a matrix of triangles, spectrogram bins x bands. Band b rises from edge b to
// edge b+1 and falls to edge b+2, which are bins.
type mel struct{ edges []int }

func checkMel(c *graph.Check) error {
	var whole [3]int64
	for i := range whole {
		var err error
		if whole[i], err = oneInteger(c, i); err != nil {
			return err
		}
	}
	var hertz [2]float64
	for i := range hertz {
		v := c.Inputs[3+i]
		if v.Const == nil || !v.Type.Floating() || v.Width() != 1 {
			return fmt.Errorf("input %d (%q) must be a constant floating number", 3+i, v.Name)
		}
		hertz[i] = v.Const.F[0]
	}
	bands, length, rate := whole[0], whole[1], whole[2]
	if bands < 1 || bands > math.MaxInt32 || length < 1 || length > math.MaxInt32 || rate < 1 || !(hertz[0] >= 0 && hertz[1] >= hertz[0] && hertz[1] <= float64(rate)) {
		return fmt.Errorf("impossible sizes: %d bands, transforms of %d, %d samples a second, %g to %g hertz", bands, length, rate, hertz[0], hertz[1])
	}
	t, err := outputType(c)
	if err != nil {
		return err
	}
	shape := []int{int(length)/2 + 1, int(bands)}
	if err := c.Set(0, t, shape); err != nil {
		return err
	}
	if n, ok := graph.Elements(shape); !ok || c.Fits(n, "the matrix", shape) != nil {
		return fmt.Errorf("the matrix %v is too large", shape)
	}
	m := newMel(int(bands), float64(length), float64(rate), hertz)
	for _, bin := range m.edges {
		if bin < 0 || bin >= shape[0] {
			return fmt.Errorf("%g hertz lie beyond the %d bins of the spectrogram", hertz[1], shape[0])
		}
	}
	c.Resolved = m
	return nil
}

// newMel spaces the edges evenly in mel, 2595 log10(1 + hertz/700).
func newMel(bands int, length, rate float64, hertz [2]float64) *mel {
	toMel := func(h float64) float64 { return 2595 * math.Log1p(h/700) / math.Ln10 }
	low, high := toMel(hertz[0]), toMel(hertz[1])
	m := &mel{}
	for i := range bands + 2 {
		at := low + float64(i)*(high-low)/float64(bands+2)
		h := 700 * math.Expm1(at/2595*math.Ln10)
		m.edges = append(m.edges, int(math.Floor((length+1)*h/rate)))
	}
	return m
}

func compileMel[T kernel.Float](n *graph.Node) Step[T] {
	m := n.Resolved.(*mel)
	return func(x *Exec[T]) error {
		out, bands := x.Out[0].F, x.Out[0].Shape[1]
		clear(out)
		for b := range bands {
			low, mid, high := m.edges[b], m.edges[b+1], m.edges[b+2]
			for bin := low; bin < mid; bin++ {
				out[bin*bands+b] = T(bin-low) / T(mid-low)
			}
			out[mid*bands+b] = 1
			for bin := mid; bin < high; bin++ {
				out[bin*bands+b] = T(high-bin) / T(high-mid)
			}
		}
		return nil
	}
}

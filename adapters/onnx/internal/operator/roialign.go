package operator

import (
	"errors"
	"fmt"
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// roiOps cut regions of interest out of images.
func roiOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "RoiAlign", Versions: []int{10, 16, 22}, Min: 3, Max: 3, Outputs: 1, Check: checkRoiAlign},
			Rule: roiRule, Compile: compileRoiAlign[T], Jumps: true},
	}
}

// roiAlign is a RoiAlign with its attributes resolved.
type roiAlign struct {
	height, width int // of the output
	samples       int // along a side of an element of it; 0: one for each pixel
	scale         float64
	halfPixel     bool
	largest       bool // of the samples, not their mean
	single        bool // coordinates are computed in float
}

// maxSamples bounds the samples along a side of an element: a region of any size can
// ask for one for each pixel.
const maxSamples = 1 << 12

func checkRoiAlign(c *graph.Check) error {
	if err := errors.Join(c.Floating(0), c.Floating(1)); err != nil {
		return err
	}
	in, rois, index := c.Inputs[0], c.Inputs[1], c.Inputs[2]
	if len(in.Shape) != 4 || len(rois.Shape) != 2 || rois.Shape[1] != 4 || len(index.Shape) != 1 || !whole(index.Type) || index.Shape[0] != rois.Shape[0] {
		return fmt.Errorf("needs images of four axes, regions [number, 4] and an integer for each, has %s, %s and %s %s", graph.ShapeText(in.Shape), graph.ShapeText(rois.Shape), index.Type, graph.ShapeText(index.Shape))
	}
	if in.BatchAxis() >= 0 {
		return errors.New("mixes rows: batch_indices may take a region of one row out of the image of another; crop with Resize (tf_crop_and_resize) or GridSample, whose regions belong to their rows")
	}
	if in.Shape[2] < 1 || in.Shape[3] < 1 {
		return fmt.Errorf("cannot cut from the empty images %v", in.Shape)
	}
	r := &roiAlign{scale: c.AttrFloat("spatial_scale", 1), single: rois.Type == graph.Float32}
	switch mode := c.Attrs["mode"].String; mode {
	case "", "avg":
	case "max":
		r.largest = true
	default:
		return fmt.Errorf("mode %q is neither avg nor max", mode)
	}
	switch mode := c.Attrs["coordinate_transformation_mode"].String; {
	case c.Version < 16 || mode == "output_half_pixel":
	case mode == "" || mode == "half_pixel":
		r.halfPixel = true
	default:
		return fmt.Errorf("coordinate_transformation_mode %q is neither half_pixel nor output_half_pixel", mode)
	}
	size := [3]int64{c.AttrInt("output_height", 1), c.AttrInt("output_width", 1), c.AttrInt("sampling_ratio", 0)}
	if size[0] < 1 || size[1] < 1 || size[2] < 0 || size[0] > 1<<20 || size[1] > 1<<20 || size[2] > maxSamples {
		return fmt.Errorf("impossible output of %d x %d with sampling_ratio %d", size[0], size[1], size[2])
	}
	r.height, r.width, r.samples = int(size[0]), int(size[1]), int(size[2])
	c.Resolved = r
	out := []int{rois.Shape[0], in.Shape[1], r.height, r.width}
	if err := c.MultiplyAdds(out, 4*max(r.samples, 1)*max(r.samples, 1)); err != nil {
		return err
	}
	return c.Set(0, in.Type, out)
}

// span is a region's extent along one axis: where it begins, the length of an element and
// the samples along it.
type span struct {
	start, step float64
	samples     int
}

// along is the extent from a to b, computed in F: how many samples there are, the last
// digits decide.
func along[F kernel.Float](r *roiAlign, a, b F, n int) span {
	offset := F(0)
	if r.halfPixel {
		offset = 0.5
	}
	start, end := F(a*F(r.scale))-offset, F(b*F(r.scale))-offset
	length := end - start
	if !r.halfPixel {
		length = max(length, 1)
	}
	s := span{start: float64(start), step: float64(length / F(n)), samples: r.samples}
	if s.samples == 0 {
		s.samples = int(min(max(math.Ceil(s.step), 0), maxSamples+1))
	}
	return s
}

func (r *roiAlign) along(a, b float64, n int) span {
	if r.single {
		return along(r, float32(a), float32(b), n)
	}
	return along(r, a, b, n)
}

func compileRoiAlign[T kernel.Float](n *graph.Node) Step[T] {
	r := n.Resolved.(*roiAlign)
	return func(x *Exec[T]) error {
		in, out := x.In[0], x.Out[0].F
		channels, size := in.Shape[1], in.Shape[2]*in.Shape[3]
		for k, image := range x.In[2].I {
			if image < 0 || image >= int64(in.Shape[0]) {
				return fmt.Errorf("batch index %d is outside the %d images", image, in.Shape[0])
			}
			var roi [4]float64
			for i, v := range x.In[1].F[4*k : 4*k+4] {
				if roi[i] = float64(v); math.IsNaN(roi[i]) || math.IsInf(roi[i], 0) {
					return fmt.Errorf("region %d begins or ends at %g", k, roi[i])
				}
			}
			w, h := r.along(roi[0], roi[2], r.width), r.along(roi[1], roi[3], r.height)
			if w.samples > maxSamples || h.samples > maxSamples {
				return fmt.Errorf("region %d of %g to %g by %g to %g needs more than %d samples along an element; set sampling_ratio", k, roi[0], roi[2], roi[1], roi[3], maxSamples)
			}
			for ch := range channels {
				from := (int(image)*channels + ch) * size
				to := (k*channels + ch) * r.height * r.width
				cut(r, out[to:to+r.height*r.width], in.F[from:from+size], in.Shape[2], in.Shape[3], h, w)
			}
		}
		return nil
	}
}

// cut computes one channel of one region.
func cut[T kernel.Float](r *roiAlign, out, image []T, height, width int, h, w span) {
	for o := range out {
		sum, top, first := 0.0, 0.0, true
		for iy := range h.samples {
			y := h.start + float64(o/r.width)*h.step + (float64(iy)+0.5)*h.step/float64(h.samples)
			for ix := range w.samples {
				x := w.start + float64(o%r.width)*w.step + (float64(ix)+0.5)*w.step/float64(w.samples)
				part := sample(image, height, width, y, x)
				for _, v := range part {
					sum += v
				}
				if v := max(part[0], part[1], part[2], part[3]); first || v > top {
					top, first = v, false
				}
			}
		}
		if out[o] = T(sum / float64(max(h.samples*w.samples, 1))); r.largest {
			out[o] = T(top)
		}
	}
}

// sample is the four pixels around a point, each times its bilinear weight; zeros outside.
func sample[T kernel.Float](image []T, height, width int, y, x float64) (part [4]float64) {
	if y < -1 || y > float64(height) || x < -1 || x > float64(width) {
		return part
	}
	y0, y1, ly := between(y, height)
	x0, x1, lx := between(x, width)
	part[0] = float64(image[y0*width+x0]) * (1 - ly) * (1 - lx)
	part[1] = float64(image[y0*width+x1]) * (1 - ly) * lx
	part[2] = float64(image[y1*width+x0]) * ly * (1 - lx)
	part[3] = float64(image[y1*width+x1]) * ly * lx
	return part
}

// between is the pixels before and behind x, and how far x is from the first.
func between(x float64, n int) (low, high int, part float64) {
	x = max(x, 0)
	low = int(x)
	if low >= n-1 {
		return n - 1, n - 1, 0
	}
	return low, low + 1, x - float64(low)
}

// roiRule: a region's elements depend on the region and on which image it is of.
func roiRule(n *graph.Node) Rule {
	r, ok := n.Resolved.(*roiAlign)
	if !ok || n.Inputs[0].Const == nil {
		return opaque(n)
	}
	perRegion := n.Inputs[0].Shape[1] * r.height * r.width
	return Rule{Cost: 5, Each: func(_, e int, yield Link) {
		for k := range 4 {
			yield(1, e/perRegion*4+k, 1)
		}
		yield(2, e/perRegion, 1)
	}}
}

package experiment

import (
	"fmt"
	"math"
	"strings"
)

// limit is the value of the darkest colours.
func (h *Heat) limit() float64 {
	limit := h.Limit
	if limit == 0 {
		for _, z := range h.Z {
			if z-z == 0 {
				limit = math.Max(limit, math.Abs(z))
			}
		}
	}
	if limit == 0 {
		return 1
	}
	return limit
}

// bar draws the scale of colours.
func (h *Heat) bar(b *strings.Builder, x, top, bottom float64) {
	a := newAxis(span{-h.limit(), h.limit()}, false, bottom, top)
	a.lo, a.hi = -h.limit(), h.limit()
	const steps = 40
	for i := range steps {
		t := -1 + (2*float64(i)+1)/steps
		y := top + (bottom-top)*(1-float64(i+1)/steps)
		fmt.Fprintf(b, `<rect x="%s" y="%s" width="12" height="%s" fill="%s"/>`+"\n", num(x), num(y), num((bottom-top)/steps+0.3), Diverging(t))
	}
	for _, t := range a.ticks(5) {
		b.WriteString(text(x+16, a.at(t)+4, label(t), soft, 11, "start", ""))
	}
}

// draw fills the cells between the midpoints of the grid.
func (h *Heat) draw(b *strings.Builder, ax, ay *axis) {
	limit := h.limit()
	xs, ys := edges(h.X), edges(h.Y)
	for i := range h.X {
		for j := range h.Y {
			z := h.Z[i*len(h.Y)+j]
			if z-z != 0 {
				continue
			}
			l, r := ax.at(xs[i]), ax.at(xs[i+1])
			t, u := ay.at(ys[j+1]), ay.at(ys[j])
			fmt.Fprintf(b, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`+"\n", num(l), num(t), num(r-l+0.2), num(u-t+0.2), Diverging(z/limit))
		}
	}
}

// edges are the borders of cells with these centres.
func edges(centre []float64) []float64 {
	n := len(centre)
	if n == 1 {
		return []float64{centre[0] - 0.5, centre[0] + 0.5}
	}
	out := make([]float64, n+1)
	for i := 1; i < n; i++ {
		out[i] = (centre[i-1] + centre[i]) / 2
	}
	out[0], out[n] = centre[0]-(out[1]-centre[0]), centre[n-1]+(centre[n-1]-out[n-1])
	return out
}

// Diverging is the colour of t in [-1, 1]: blue, white, orange.
func Diverging(t float64) string {
	t = math.Max(-1, math.Min(1, t))
	end := [3]float64{0xc2, 0x57, 0x00}
	if t < 0 {
		end = [3]float64{0x00, 0x5a, 0x96}
	}
	var c [3]int
	for i := range c {
		c[i] = int(math.Round(255 + math.Abs(t)*(end[i]-255)))
	}
	return fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2])
}

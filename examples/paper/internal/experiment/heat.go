package experiment

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// limit is the value of the darkest colours.
func (h *Heat) limit() float64 {
	limit := h.Limit
	if limit == 0 {
		s := spanOf(false, h.Z)
		limit = math.Max(-s.lo, s.hi)
	}
	if !(limit > 0) {
		return 1
	}
	return limit
}

// cells is the span of cells with these centres.
func cells(centre []float64) span {
	n := len(centre)
	if n == 1 {
		return span{centre[0] - 0.5, centre[0] + 0.5}
	}
	return span{centre[0] - (centre[1]-centre[0])/2, centre[n-1] + (centre[n-1]-centre[n-2])/2}
}

// plotter draws the map.
func (h *Heat) plotter() *plotter.HeatMap { return mapOf(grid{h.X, h.Y, h.Z}, h.limit()) }

// bar is the scale of colours with its axis.
func (h *Heat) bar() *plot.Plot {
	const steps = 40
	limit := h.limit()
	g := grid{x: []float64{0}}
	for i := range steps {
		z := limit * (-1 + (2*float64(i)+1)/steps)
		g.y, g.z = append(g.y, z), append(g.z, z)
	}
	out := plot.New()
	dressAxis(&out.Y, "", false)
	out.HideX()
	scale := mapOf(g, limit)
	scale.Rasterized = true // no seams
	out.Add(scale)
	out.X.Min, out.X.Max, out.Y.Min, out.Y.Max = -0.5, 0.5, -limit, limit
	return out
}

func mapOf(g grid, limit float64) *plotter.HeatMap {
	m := plotter.NewHeatMap(g, diverging{})
	m.Min, m.Max = -limit, limit
	return m
}

// grid is a plotter.GridXYZ; Z varies with Y first.
type grid struct{ x, y, z []float64 }

func (g grid) Dims() (columns, rows int) { return len(g.x), len(g.y) }
func (g grid) X(column int) float64      { return g.x[column] }
func (g grid) Y(row int) float64         { return g.y[row] }
func (g grid) Z(column, row int) float64 { return g.z[column*len(g.y)+row] }

// diverging is a palette: blue, white, orange.
type diverging struct{}

func (diverging) Colors() []color.Color {
	const half = 50
	ends := [2]color.NRGBA{hex("#005a96"), hex("#c25700")}
	var out []color.Color
	for i := -half; i <= half; i++ {
		end, t := ends[0], float64(-i)/half
		if i > 0 {
			end, t = ends[1], float64(i)/half
		}
		fade := func(v uint8) uint8 { return uint8(math.Round(255 + t*(float64(v)-255))) }
		out = append(out, color.NRGBA{fade(end.R), fade(end.G), fade(end.B), 255})
	}
	return out
}

package browsertest

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"testing"
)

// TestHoverSurface: the values under the pointer over a map are those of effects.csv at the point
// that is named, which is where the pointer is on the map's axes, whatever their scale.
func TestHoverSurface(t *testing.T) {
	each(t, func(t *testing.T, dir, page string) {
		b := opened(t, page, look{})
		a, surfaces := readArtifact(t, dir), readSurfaces(t, dir)
		compared, scales := 0, map[string]bool{}
		for i := range value[int](b, `document.querySelectorAll("svg[data-kind=heat]").length`) {
			svg := fmt.Sprintf(`document.querySelectorAll("svg[data-kind=heat]")[%d]`, i)
			key := a.Predictors[value[int](b, "+"+svg+`.closest("figure").dataset.predictor`)-1].Name + "\x00" + value[string](b, svg+`.closest("figure").dataset.term`)
			points := surfaces[key]
			if len(points) == 0 {
				t.Errorf("%q is not in effects.csv", key)
				continue
			}
			scales[value[string](b, svg+`.dataset.xScale.split(" ")[0]`)] = true
			for p := range value[int](b, svg+`.querySelectorAll("image").length`) {
				image := fmt.Sprintf("%s.querySelectorAll('image')[%d]", svg, p)
				for _, share := range [][2]float64{{0.3, 0.3}, {0.52, 0.7}, {0.8, 0.45}} {
					b.hover(b.at(image, share[0], share[1]))
					compared += b.sameAsSurface(svg, image, points, share)
				}
			}
		}
		if compared < 3 {
			t.Errorf("%d points were compared", compared)
		}
		if filepath.Base(filepath.Dir(dir)) == "skewed" && !scales["log"] && !scales["asinh"] {
			t.Errorf("no map has a skewed axis: %v", scales)
		}
	}, "smooths", "skewed", "california")
}

// surfacePoint is a line of effects.csv: x, x2 and the value after the projection.
type surfacePoint [3]float64

// sameAsSurface compares what is shown under the pointer, at shares of a map, with a surface.
func (b *tab) sameAsSurface(svg, image string, points []surfacePoint, share [2]float64) int {
	b.t.Helper()
	shown := value[map[string]string](b, `({...`+svg+`.closest("figure").querySelector("output.values").dataset})`)
	if shown["x"] == "" || shown["x2"] == "" {
		b.t.Errorf("at %v nothing is shown: %v", share, shown)
		return 0
	}
	x, _ := strconv.ParseFloat(shown["x"], 64)
	x2, _ := strconv.ParseFloat(shown["x2"], 64)
	best, far, size := surfacePoint{}, math.Inf(1), 0.0
	for _, p := range points {
		if d := math.Abs(p[0]-x)/(math.Abs(x)+1e-9) + math.Abs(p[1]-x2)/(math.Abs(x2)+1e-9); d < far {
			best, far = p, d
		}
		if !math.IsNaN(p[2]) {
			size = max(size, math.Abs(p[2]))
		}
	}
	after, err := strconv.ParseFloat(shown["after"], 64)
	if err != nil {
		after = math.NaN() // no row is near
	}
	if far > 1e-3 || math.IsNaN(after) != math.IsNaN(best[2]) || math.Abs(after-best[2]) > 1e-3*size {
		b.t.Errorf("at %v: %v on the page, %v in effects.csv", share, shown, best)
	}
	b.isUnder(svg, image, x, x2, points, share)
	return 1
}

// isUnder checks that no grid point is nearer to the pointer, on the axes as they are drawn, than
// the one that is shown.
func (b *tab) isUnder(svg, image string, x, x2 float64, points []surfacePoint, share [2]float64) {
	b.t.Helper()
	d := value[map[string]string](b, `({...`+image+`.dataset, xs: `+svg+`.dataset.xScale, ys: `+svg+`.dataset.yScale})`)
	place := func(scale, from, to string, v float64) float64 {
		w := warped(scale)
		lo, _ := strconv.ParseFloat(from, 64)
		hi, _ := strconv.ParseFloat(to, 64)
		return (w(v) - w(lo)) / (w(hi) - w(lo))
	}
	off := func(x, x2 float64) (float64, float64) {
		return math.Abs(place(d["xs"], d["x0"], d["x1"], x) - share[0]), math.Abs(place(d["ys"], d["y0"], d["y1"], x2) - (1 - share[1]))
	}
	ox, oy := off(x, x2)
	for _, p := range points {
		if px, py := off(p[0], p[1]); px < ox-0.02 || py < oy-0.02 {
			b.t.Errorf("at %v: (%g, %g) is shown, (%g, %g) is nearer", share, x, x2, p[0], p[1])
			return
		}
	}
}

// warped is a scale by its name in data-x-scale.
func warped(name string) func(float64) float64 {
	var unit float64
	if n, _ := fmt.Sscanf(name, "asinh %g", &unit); n == 1 {
		return func(v float64) float64 { return math.Asinh(v / unit) }
	}
	if name == "log" {
		return math.Log
	}
	return func(v float64) float64 { return v }
}

// readSurfaces are the surfaces after the projection by predictor and term; NaN where there is no
// value.
func readSurfaces(t *testing.T, dir string) map[string][]surfacePoint {
	t.Helper()
	at, rows := readTable(t, filepath.Join(dir, "effects.csv"))
	out := map[string][]surfacePoint{}
	for _, r := range rows {
		if member, ok := at["member"]; r[at["stage"]] != "after" || r[at["x2"]] == "" || ok && r[member] != "" {
			continue
		}
		p := surfacePoint{}
		for i, column := range []string{"x", "x2", "value"} {
			v, err := strconv.ParseFloat(r[at[column]], 64)
			if err != nil {
				v = math.NaN()
			}
			p[i] = v
		}
		key := r[at["predictor"]] + "\x00" + r[at["term"]]
		out[key] = append(out[key], p)
	}
	return out
}

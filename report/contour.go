package report

import "math"

// contourLine is where a surface has one value.
type contourLine struct {
	label string
	lines [][]point
}

// contours are lines at round values, n of them or fewer, within the
// values of r that colours tell apart, in the coordinates of a picture from x0 to x1 and, upwards, from y0 to y1.
func (r *raster) contours(n int, limit float64, x0, x1, y0, y1 float64) []contourLine {
	s := emptySpan()
	for _, v := range r.v {
		s.add(math.Max(math.Min(v, 1.25*limit), -1.25*limit))
	}
	if s.empty() || !(s.size() > 1e-9*math.Max(math.Abs(s.lo), math.Abs(s.hi))) || r.nx < 2 || r.ny < 2 {
		return nil
	}
	step := niceStep(s.size() / float64(n))
	var out []contourLine
	for i := math.Ceil(s.lo / step); i*step <= s.hi && len(out) < 4*n; i++ {
		c := contourLine{label: tickLabel(i*step, step)}
		for _, line := range r.contour(i * step) {
			for j, p := range line { // pixel centres
				line[j] = point{x0 + (p.x+0.5)/float64(r.nx)*(x1-x0), y0 + (p.y+0.5)/float64(r.ny)*(y1-y0)}
			}
			c.lines = append(c.lines, line)
		}
		out = append(out, c)
	}
	return out
}

// edge is a side of a square of pixels, between pixel (x, y) and the next across or upwards.
type edge struct {
	x, y    int
	upwards bool
}

// contour are the lines at a level, in pixels (marching squares). Squares with a pixel
// without a value have none.
func (r *raster) contour(level float64) [][]point {
	joined := map[edge][]edge{}
	var order []edge // as met, so that the lines come in one order
	join := func(a, b edge) {
		for _, e := range []edge{a, b} {
			if joined[e] == nil {
				order = append(order, e)
			}
		}
		joined[a], joined[b] = append(joined[a], b), append(joined[b], a)
	}
	for x := range r.nx - 1 {
		for y := range r.ny - 1 {
			r.square(x, y, level, join)
		}
	}
	var out [][]point
	used := map[edge]bool{}
	follow := func(e edge) {
		var line []point
		for next, ok := e, true; ok; {
			e = next
			used[e] = true
			line = append(line, r.crossing(e, level))
			ok = false
			for _, o := range joined[e] {
				if !used[o] {
					next, ok = o, true
					break
				}
			}
		}
		for _, o := range joined[e] { // a closed line ends where it began
			if first := r.crossing(o, level); len(line) > 2 && first == line[0] {
				line = append(line, first)
				break
			}
		}
		out = append(out, line)
	}
	for _, ends := range []bool{true, false} { // open lines from their ends, then closed ones
		for _, e := range order {
			if !used[e] && (len(joined[e]) == 1 || !ends) {
				follow(e)
			}
		}
	}
	return out
}

// square joins the edges of a square that the level crosses.
func (r *raster) square(x, y int, level float64, join func(a, b edge)) {
	corner := [4]float64{r.v[x*r.ny+y], r.v[(x+1)*r.ny+y], r.v[(x+1)*r.ny+y+1], r.v[x*r.ny+y+1]}
	sides := [4]edge{{x, y, false}, {x + 1, y, true}, {x, y + 1, false}, {x, y, true}}
	var crossed []edge
	sum := 0.0
	for i, v := range corner {
		if math.IsNaN(v) {
			return
		}
		sum += v / 4
		if (v > level) != (corner[(i+1)%4] > level) {
			crossed = append(crossed, sides[i])
		}
	}
	switch {
	case len(crossed) == 2:
		join(crossed[0], crossed[1])
	case len(crossed) == 4 && (sum > level) == (corner[0] > level): // a saddle
		join(crossed[0], crossed[1])
		join(crossed[2], crossed[3])
	case len(crossed) == 4:
		join(crossed[3], crossed[0])
		join(crossed[1], crossed[2])
	}
}

// crossing is where the level crosses an edge.
func (r *raster) crossing(e edge, level float64) point {
	x, y := e.x, e.y
	a := r.v[x*r.ny+y]
	if e.upwards {
		y++
	} else {
		x++
	}
	w := (level - a) / (r.v[x*r.ny+y] - a)
	if e.upwards {
		return point{float64(e.x), float64(e.y) + w}
	}
	return point{float64(e.x) + w, float64(e.y)}
}

func length(line []point) float64 {
	sum := 0.0
	for i := range len(line) - 1 {
		sum += math.Hypot(line[i+1].x-line[i].x, line[i+1].y-line[i].y)
	}
	return sum
}

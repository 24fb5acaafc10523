package report

import "math"

// point is a position of the picture.
type point struct{ x, y float64 }

// simplified leaves out points that lie within 0.2 units, which nobody sees, of the line
// between those that are kept (Douglas and Peucker).
func simplified(p []point) []point {
	const tolerance = 0.2
	if len(p) < 3 {
		return p
	}
	at, most := 0, tolerance
	a, b := p[0], p[len(p)-1]
	for i := 1; i < len(p)-1; i++ {
		if d := p[i].apart(a, b); d > most {
			at, most = i, d
		}
	}
	if at == 0 {
		return []point{a, b}
	}
	return append(simplified(p[:at+1:at+1]), simplified(p[at:])[1:]...)
}

// apart is the distance from the line between a and b.
func (p point) apart(a, b point) float64 {
	dx, dy := b.x-a.x, b.y-a.y
	length := math.Hypot(dx, dy)
	if length == 0 {
		return math.Hypot(p.x-a.x, p.y-a.y)
	}
	t := ((p.x-a.x)*dx + (p.y-a.y)*dy) / (length * length)
	t = math.Min(math.Max(t, 0), 1)
	return math.Hypot(p.x-a.x-t*dx, p.y-a.y-t*dy)
}

// trace adds a line through the points.
func (p *path) trace(points []point) {
	for i, at := range simplified(points) {
		if i == 0 {
			p.move(at.x, at.y)
		} else {
			p.line(at.x, at.y)
		}
	}
}

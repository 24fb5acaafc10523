package report

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/decompose"
)

// steps are n + 1 quantiles of a distribution with this inverse.
func steps(n int, inverse func(p float64) float64) []float64 {
	q := make([]float64, n+1)
	for i := range q {
		q[i] = inverse(float64(i) / float64(n))
	}
	return q
}

// TestGridPoints: as many points as asked for, ascending and distinct from end to end, the
// first half where rows lie, and no step of what is drawn much longer than needed.
func TestGridPoints(t *testing.T) {
	for name, q := range map[string][]float64{
		"even":                 steps(50, func(p float64) float64 { return 10 * p }),
		"far value":            append(steps(49, func(p float64) float64 { return p }), 1000),
		"few":                  steps(50, func(p float64) float64 { return math.Floor(3.999 * p) }),
		"constant but for one": append(slices.Repeat([]float64{2}, 50), 7),
		"heavy":                steps(50, func(p float64) float64 { return math.Exp(12 * p) }),
		"tiny":                 steps(50, func(p float64) float64 { return 1e-300 * p }),
		"negative":             steps(50, func(p float64) float64 { return -math.Exp(5 * (1 - p)) }),
		"none":                 nil,
	} {
		lo, hi := 0.0, 10.0
		if q != nil {
			lo, hi = q[0], q[len(q)-1]
		}
		for _, n := range []int{41, 101} {
			x := gridPoints(lo, hi, q, n)
			if len(x) != n || x[0] != lo || x[n-1] != hi {
				t.Fatalf("%s: %d points from %g to %g, want %d from %g to %g", name, len(x), x[0], x[len(x)-1], n, lo, hi)
			}
			for i := 1; i < n; i++ {
				if !(x[i] > x[i-1]) {
					t.Fatalf("%s: %g follows %g", name, x[i], x[i-1])
				}
			}
			if q == nil {
				for i := range x {
					if math.Abs(x[i]-10*float64(i)/float64(n-1)) > 1e-12 {
						t.Fatalf("without quantiles: %v", x)
					}
				}
				continue
			}
			from, to := inner(warp{}, q)
			shown := 0
			for i := 1; i < n; i++ {
				if x[i-1] >= from && x[i] <= to {
					if shown++; x[i]-x[i-1] > 4*(to-from)/float64(n/4) {
						t.Errorf("%s: a step of %g, the picture being %g wide", name, x[i]-x[i-1], to-from)
					}
				}
			}
			if shown < n/4 {
				t.Errorf("%s: %d of %d points in the picture", name, shown, n)
			}
		}
	}
	if x := gridPoints(3, 3, nil, 101); !slices.Equal(x, []float64{3}) {
		t.Errorf("a constant has the grid %v", x)
	}
}

// TestFrame: the central rows fill half of the picture or more, whatever lies far from them,
// and what is not drawn is said.
func TestFrame(t *testing.T) {
	for name, c := range map[string]struct {
		q          []float64
		scale, say string
		whole      bool
	}{
		"even":       {steps(50, func(p float64) float64 { return 10 * p }), "linear", "", false},
		"normal":     {steps(50, func(p float64) float64 { return math.Erfinv(2*(0.005+0.99*p) - 1) }), "linear", "", false},
		"far value":  {append(steps(49, func(p float64) float64 { return p }), 1000), "linear", "Rows of higher x, up to 1000, are not in the picture (less than 2 %)", false},
		"far below":  {append([]float64{-500}, steps(49, func(p float64) float64 { return p })...), "linear", "Rows of lower x, down to −500, are not in the picture", false},
		"incomes":    {steps(50, func(p float64) float64 { return math.Exp(12 * p) }), "log", "logarithmic", false},
		"with zeros": {steps(50, func(p float64) float64 { return math.Max(0, math.Exp(14*p-7)-math.Exp(-5)) }), "asinh", "logarithmic", false},
		"hours":      {steps(50, func(p float64) float64 { return math.Floor(23.99 * p) }), "linear", "", true},
	} {
		a := &Axis{Feature: "x", Values: gridPoints(c.q[0], c.q[50], c.q, 101)}
		f := newFrame(a, c.q, left, right)
		if !strings.HasPrefix(f.warp.String(), c.scale) {
			t.Errorf("%s: the scale is %s", name, f.warp)
		}
		if said := strings.Join(f.caption, " "); c.say == "" && said != "" || !strings.Contains(said, c.say) {
			t.Errorf("%s: the caption says %q", name, said)
		}
		lo, _, hi := central(c.q)
		if share := (f.at(hi) - f.at(lo)) / (right - left); share < 0.49 {
			t.Errorf("%s: 96 %% of the rows fill %.2f of the picture", name, share)
		}
		if f.integers != c.whole {
			t.Errorf("%s: whole numbers: %v", name, f.integers)
		}
		last := math.Inf(-1)
		marks := f.marks(6)
		if len(marks) < 2 || len(marks) > 14 {
			t.Errorf("%s: %d marks", name, len(marks))
		}
		for _, m := range marks {
			if at := number(t, m.At); at <= last || at < left-0.1 || at > right+0.1 {
				t.Errorf("%s: marks %v", name, marks)
			} else {
				last = at
			}
			if c.whole && strings.Contains(m.Label, ".") {
				t.Errorf("%s: a mark at %s", name, m.Label)
			}
		}
		sum := 0.0
		for _, v := range f.rows(c.q, 40) {
			sum += v
		}
		if sum < 0.9*50 || sum > 50+1e-9 {
			t.Errorf("%s: bars of %g of 50 parts of the rows", name, sum)
		}
	}
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	v := numbers([]string{s})[0]
	if math.IsNaN(v) {
		t.Fatalf("%q is no number", s)
	}
	return v
}

// TestContours: the lines of a cone are circles, closed, at their radius; there are none
// where the surface has no values.
func TestContours(t *testing.T) {
	const n = 61
	r := &raster{n, n, make([]float64, n*n)}
	for i := range n {
		for j := range n {
			r.v[i*n+j] = math.Hypot(float64(i-30), float64(j-30))
			if i > 50 {
				r.v[i*n+j] = math.NaN()
			}
		}
	}
	lines := r.contour(10)
	if len(lines) != 1 || lines[0][0] != lines[0][len(lines[0])-1] {
		t.Fatalf("%d lines for a circle", len(lines))
	}
	for _, p := range lines[0] {
		if d := math.Hypot(p.x-30, p.y-30); math.Abs(d-10) > 0.05 {
			t.Fatalf("a point at %g of the middle", d)
		}
	}
	if got := length(lines[0]); math.Abs(got-20*math.Pi) > 0.2 {
		t.Errorf("a circle of length %g", got)
	}
	for _, line := range r.contour(25) { // cut by the blank part
		for _, p := range line {
			if p.x > 50 {
				t.Fatalf("a line at %v, where there are no values", p)
			}
		}
	}
	labels := map[string]bool{}
	for _, c := range r.contours(6, 100, 0, 300, 300, 0) {
		labels[c.label] = true
		for _, line := range c.lines {
			for _, p := range line {
				if p.x < 0 || p.x > 300*51.0/61 || p.y < 0 || p.y > 300 {
					t.Fatalf("a point at %v", p)
				}
			}
		}
	}
	if !labels["10"] || !labels["30"] || labels["0"] && len(labels) > 8 {
		t.Errorf("lines at %v", labels)
	}
	flat := &raster{3, 3, slices.Repeat([]float64{1}, 9)}
	if c := flat.contours(6, 1, 0, 1, 0, 1); c != nil {
		t.Errorf("lines %v of a plane", c)
	}
}

// TestSimplified: points left out lie within a fifth of a unit of the drawn line.
func TestSimplified(t *testing.T) {
	var p []point
	for i := range 401 {
		p = append(p, point{float64(i), 60 * math.Sin(float64(i)/40)})
	}
	s := simplified(p)
	if len(s) < 10 || len(s) > 150 || s[0] != p[0] || s[len(s)-1] != p[400] {
		t.Fatalf("%d points of 401", len(s))
	}
	at := 0
	for _, q := range p {
		for at+1 < len(s)-1 && s[at+1].x < q.x {
			at++
		}
		if d := q.apart(s[at], s[at+1]); d > 0.201 {
			t.Fatalf("%v is %g off", q, d)
		}
	}
}

// TestWithin: one far cell does not decide a scale.
func TestWithin(t *testing.T) {
	v := steps(999, func(p float64) float64 { return p - 0.5 })
	v[0], v[1] = 24, math.NaN()
	if got := within(v, 0.995); math.Abs(got-0.5) > 0.01 {
		t.Errorf("%g", got)
	}
	if got := within([]float64{math.NaN()}, 0.995); got != 0 {
		t.Errorf("%g of nothing", got)
	}
}

// TestSaddle: where a square has two high corners across, its middle says which are joined.
func TestSaddle(t *testing.T) {
	for middle, apart := range map[float64]bool{0.9: true, 1.3: false} { // v(1,1): the mean is below or above 0.5
		r := &raster{2, 2, []float64{0.9, 0, 0, middle}}
		lines := r.contour(0.5)
		if len(lines) != 2 {
			t.Fatalf("%d lines", len(lines))
		}
		for _, line := range lines {
			// A line round a high corner has both ends near (0,0) or near (1,1).
			round := line[0].x+line[0].y < 1 && line[1].x+line[1].y < 1 || line[0].x+line[0].y > 1 && line[1].x+line[1].y > 1
			if round != apart {
				t.Errorf("corner %g: a line %v", middle, line)
			}
		}
	}
}

// TestEffectSpan: values of a curve beyond the rows flatten neither its own picture nor
// the others'.
func TestEffectSpan(t *testing.T) {
	q := append(steps(49, func(p float64) float64 { return p }), 1000)
	x := gridPoints(0, 1000, q, 101)
	e := &Effect{Term: "s(x)", X: &Axis{Feature: "x", Values: x}, Before: make([]float64, 101), After: slices.Clone(x), SE: slices.Repeat([]float64{0.01}, 101)}
	d := &drawing{common: emptySpan(), feature: map[string]decompose.Feature{"x": {Name: "x", Max: 1000, Quantiles: q}}}
	if s := d.effectSpan(e); s.hi < 1 || s.hi > 2 || s.lo > 0 {
		t.Errorf("a curve from 0 to 1 where rows lie is drawn from %g to %g", s.lo, s.hi)
	}
	c := d.curve(e)
	if !slices.ContainsFunc(c.caption, func(s string) bool { return strings.Contains(s, "in all it runs from 0 to 1000") }) || c.Before != "" {
		t.Errorf("caption %q, before %q", c.caption, c.Before)
	}
	// A level of few rows, with a curve far larger than all rows' contributions.
	usual := &candidate{effect: e, terms: []*decompose.TermResult{{Identified: true}}, after: 0.3}
	far := &Effect{Term: "s(x):few", X: &Axis{Feature: "x", Values: []float64{0, 1}}, Before: []float64{0, 0}, After: []float64{-50, 50}, SE: []float64{1, 1}}
	wild := &candidate{effect: far, terms: usual.terms, after: 0.02}
	d.bound([]*candidate{usual, wild})
	d.join(usual)
	d.join(wild)
	if d.common.hi > 2 || d.common.lo < -1 {
		t.Errorf("the common scale is from %g to %g", d.common.lo, d.common.hi)
	}
}

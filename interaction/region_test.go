package interaction

import (
	"math"
	"testing"

	"github.com/pho-go/pho/decompose"
)

// TestRegions: where the remainder is three times as large is found, along one column and in a rectangle of two, with its bounds to a bin
// and the rows and squares in it; where it is as large everywhere nothing is.
func TestRegions(t *testing.T) {
	const n, p = 8000, 4
	x := correlated(77, n, p, 0)
	u := uniform(78)
	even, uneven := make([]float64, n), make([]float64, n)
	inside := func(i int) (first, second bool) { return x[0][i] > 1, x[1][i] > 0.7 && x[2][i] < -0.7 }
	var rowsIn, squareIn [2]float64
	all := 0.0
	for i := range n {
		noise := u.normal()
		even[i] = x[0][i] + noise
		first, second := inside(i)
		if first || second {
			noise *= 3
		}
		uneven[i] = x[0][i] + noise
		all += noise * noise
		for j, in := range []bool{first, second} {
			if in {
				rowsIn[j]++
				squareIn[j] += noise * noise
			}
		}
	}
	if m := ranked(t, rows(t, x, even), []string{"eta"}, names(p), "~ x0", decompose.Options{}).Predictors[0].Remainder; len(m.Regions) > 0 {
		t.Errorf("equal noise has regions %+v", m.Regions)
	}
	m := ranked(t, rows(t, x, uneven), []string{"eta"}, names(p), "~ x0", decompose.Options{}).Predictors[0].Remainder
	if len(m.Regions) != 2 {
		t.Fatalf("regions %s", encoded(t, m.Regions))
	}
	const bin = 0.45 // of eight bins of a normal variable, beside 0.7 and 1
	near := func(bound *float64, want float64) bool { return bound != nil && math.Abs(*bound-want) < bin }
	for _, r := range m.Regions {
		at := 0
		switch w := r.Where; {
		case len(w) == 1 && w[0].Feature == "x0" && near(w[0].From, 1) && w[0].To == nil:
		case len(w) == 2 && w[0].Feature == "x1" && near(w[0].From, 0.7) && w[0].To == nil && w[1].Feature == "x2" && near(w[1].To, -0.7) && w[1].From == nil:
			at = 1
		default:
			t.Errorf("region %s", encoded(t, r))
			continue
		}
		if want := rowsIn[at] / n; r.Rows < want/1.8 || r.Rows > 1.8*want {
			t.Errorf("%s: the region has %.3f of the rows, want about %.3f", encoded(t, r.Where), r.Rows, want)
		}
		if want := squareIn[at] / all; r.Share < want/1.5 || r.Share > 1.5*want {
			t.Errorf("%s: the region has %.3f of the squares, want about %.3f", encoded(t, r.Where), r.Share, want)
		}
	}
	// The rows that are named have the largest squares, and say what they are.
	for i, r := range m.Rows {
		if i > 0 && r.Share > m.Rows[i-1].Share {
			t.Errorf("row %d is before row %d", m.Rows[i-1].Row, r.Row)
		}
		if eta := uneven[r.Row-1]; r.Eta != eta {
			t.Errorf("row %d has eta %g, the data have %g", r.Row, r.Eta, eta)
		}
	}
}

// TestSinglesWithoutPairs: with no pair beyond chance columns are told whose curves no term has, of few columns and of more
// than can be looked at together; noise of unequal variance is told of none.
func TestSinglesWithoutPairs(t *testing.T) {
	const n = 4000
	for _, p := range []int{3, 80} {
		x := correlated(83, n, p, 0)
		u := uniform(84)
		curves, noise := make([]float64, n), make([]float64, n)
		for i := range n {
			noise[i] = x[0][i] + x[2][i]*u.normal()
			curves[i] = x[0][i] + math.Sin(2*x[p-1][i]) + u.normal()
		}
		told := func(eta []float64) *decompose.Remainder {
			m := ranked(t, rows(t, x, eta), []string{"eta"}, names(p), "~ x0", decompose.Options{}).Predictors[0].Remainder
			if len(m.Pairs) > 0 {
				t.Errorf("%d columns: pairs %v", p, m.Pairs)
			}
			return m
		}
		if m := told(curves); len(m.Singles) != 1 || m.Singles[0].Feature != names(p)[p-1] || math.Abs(m.SingleColumns-m.Singles[0].Gain) > 0.03 {
			t.Errorf("%d columns: of a curve %s", p, encoded(t, m))
		} else if share := 0.5 / (1 + 0.5 + 1); math.Abs(m.SingleColumns-share) > 0.05 {
			t.Errorf("%d columns: %.3f of the variance, want about %.3f", p, m.SingleColumns, share)
		}
		if m := told(noise); m.SingleColumns != 0 || m.Singles != nil {
			t.Errorf("%d columns: of noise %s", p, encoded(t, m))
		}
	}
}

// TestSingles: beside a pair, a curve that no term has is told of its column, with its share of the predictor's variance; the largest first.
func TestSingles(t *testing.T) {
	const n, p = 6000, 4
	x := correlated(79, n, p, 0)
	u := uniform(80)
	eta := make([]float64, n)
	var parts [p]float64
	all, mean := 0.0, 0.0
	for i := range n {
		curves := [p]float64{x[0][i], math.Sin(2 * x[1][i]), 0.3 * x[2][i] * x[2][i], 0}
		eta[i] = curves[0] + curves[1] + curves[2] + x[0][i]*x[3][i] + 0.5*u.normal()
		all, mean = all+eta[i]*eta[i], mean+eta[i]
		for j, c := range curves {
			parts[j] += c * c
		}
	}
	total := all/n - mean*mean/n/n
	m := ranked(t, rows(t, x, eta), []string{"eta"}, names(p), "~ x0", decompose.Options{}).Predictors[0].Remainder
	if len(m.Singles) != 2 || m.Singles[0].Feature != "x1" || m.Singles[1].Feature != "x2" {
		t.Fatalf("singles %s", encoded(t, m))
	}
	square := 0.0
	for i := range n { // about its mean
		square += 0.3 * x[2][i] * x[2][i]
	}
	wants := []float64{parts[1] / n / total, (parts[2]/n - square*square/n/n) / total}
	for i, want := range wants {
		if got := m.Singles[i].Gain; math.Abs(got-want) > 0.15*want {
			t.Errorf("%s takes %.3f, want about %.3f", m.Singles[i].Feature, got, want)
		}
	}
}

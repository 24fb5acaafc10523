package report

import (
	"math"
	"strconv"
	"testing"
)

// TestSeries: what the script gets back is the values to a 100000th of their size, whatever that
// is, with gaps where they have none.
func TestSeries(t *testing.T) {
	for _, size := range []float64{1e-12, 0.37, 1, 4e5, 3e12} {
		v := make([]float64, 120)
		for i := range v {
			v[i] = size * math.Sin(float64(i)/9)
		}
		v[0], v[7], v[8], v[119] = math.NaN(), math.Inf(1), math.NaN(), 9e6*size
		s, bytes := newSeries(v, size)
		var last, step int64
		sum := 0
		for i, text := range s.Steps {
			sum += len(text) + 1
			if text == "null" {
				if !notFinite(v[i]) {
					t.Errorf("size %g: value %d is lost", size, i)
				}
				continue
			}
			more, err := strconv.ParseInt(string(text), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			step += more
			last += step
			if got := float64(last) / math.Pow10(s.Places); math.Abs(got-v[i]) > 1e-5*size {
				t.Errorf("size %g, value %d: %g, not %g", size, i, got, v[i])
			}
		}
		if sum != bytes {
			t.Errorf("%d bytes, said to be %d", sum, bytes)
		}
	}
	if s, _ := newSeries([]float64{0, 0}, 0); len(s.Steps) != 2 || s.Steps[1] != "0" {
		t.Errorf("zeros are %v", s.Steps)
	}
}

// TestUnitAt: points of a skewed axis stay apart, and close to where they are between their
// neighbours.
func TestUnitAt(t *testing.T) {
	a := &Axis{}
	for i := range 100 {
		a.Values = append(a.Values, 1e-3*math.Pow(1.3, float64(i)))
	}
	for i := 1; i < len(a.Values); i++ {
		got, err := strconv.ParseFloat(string(rounded(a.Values[i], a.unitAt(i))), 64)
		if step := a.Values[i] - a.Values[i-1]; err != nil || math.Abs(got-a.Values[i]) > step/100 {
			t.Errorf("%g is written %g (%v)", a.Values[i], got, err)
		}
	}
}

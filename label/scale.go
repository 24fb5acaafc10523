package label

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// BackTransform leads from a number of the data to the one that is shown,
//
//	shown = function(scale value + shift).
//
// Of a standardised column, scale is the standard deviation and shift the mean. The zero
// value of Function is linear, of Scale 1. nil: shown as it is.
type BackTransform struct {
	Function Function `json:"function,omitempty"`
	Scale    float64  `json:"scale,omitempty"`
	Shift    float64  `json:"shift,omitempty"`
}

// Function is the last step of a BackTransform.
type Function string

// The functions, a closed set: those that undo log, log10 and log1p.
const (
	Linear Function = "linear" // x
	Exp    Function = "exp"    // e^x
	Exp10  Function = "exp10"  // 10^x
	Expm1  Function = "expm1"  // e^x - 1
)

func functions() []string { return []string{string(Linear), string(Exp), string(Exp10), string(Expm1)} }

func (b *BackTransform) scale() float64 {
	if b.Scale == 0 {
		return 1
	}
	return b.Scale
}

// Shown is v as it is shown; what is beyond 1e300 is shown as that, so that axes have ends.
func (b *BackTransform) Shown(v float64) float64 {
	if b == nil || math.IsNaN(v) {
		return v
	}
	const most = 1e300
	return math.Min(math.Max(b.function(b.scale()*v+b.Shift), -most), most)
}

func (b *BackTransform) function(x float64) float64 {
	switch b.Function {
	case Exp:
		return math.Exp(x)
	case Exp10:
		return math.Pow(10, x)
	case Expm1:
		return math.Expm1(x)
	}
	return x
}

// Range is the range from lo to hi as it is shown, ascending.
func (b *BackTransform) Range(lo, hi float64) (from, to float64) {
	if b.Decreasing() {
		lo, hi = hi, lo
	}
	return b.Shown(lo), b.Shown(hi)
}

// Ascending are ascending numbers as they are shown, ascending; nil stays nil.
func (b *BackTransform) Ascending(values []float64) []float64 {
	if values == nil {
		return nil
	}
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = b.Shown(v)
	}
	if b.Decreasing() {
		slices.Reverse(out)
	}
	return out
}

// Value is the number of the data that is shown as v: the inverse of Shown. NaN, or infinite,
// where no number is.
func (b *BackTransform) Value(v float64) float64 {
	if b == nil {
		return v
	}
	x := v
	switch b.Function {
	case Exp:
		x = math.Log(v)
	case Exp10:
		x = math.Log10(v)
	case Expm1:
		x = math.Log1p(v)
	}
	return (x - b.Shift) / b.scale()
}

// Decreasing tells whether larger numbers of the data are shown as smaller ones.
func (b *BackTransform) Decreasing() bool { return b != nil && b.Scale < 0 }

// IsLinear tells whether equal distances in the data are shown as equal ones.
func (b *BackTransform) IsLinear() bool {
	return b == nil || b.Function == "" || b.Function == Linear
}

// fault says what is wrong with it.
func (b *BackTransform) fault() error {
	switch {
	case b.Function != "" && !slices.Contains(functions(), string(b.Function)):
		return fmt.Errorf("function %q: it is one of %s, so that shown = function(scale * value + shift)", b.Function, strings.Join(functions(), ", "))
	case math.IsInf(b.Scale, 0) || math.IsNaN(b.Scale) || math.IsInf(b.Shift, 0) || math.IsNaN(b.Shift):
		return fmt.Errorf("scale %g and shift %g are not both finite numbers", b.Scale, b.Shift)
	}
	return nil
}

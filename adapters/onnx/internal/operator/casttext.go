package operator

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// writeNumbers casts numbers to text, as ONNX Runtime writes them: 8 digits.
func writeNumbers[T kernel.Float](from graph.DType) Step[T] {
	return func(x *Exec[T]) error {
		in, out := x.In[0], x.Out[0].I
		var err error
		for i := range out {
			text := ""
			if in.F != nil {
				text = numberText(from.Round(float64(in.F[i])))
			} else {
				text = strconv.FormatInt(in.I[i], 10)
			}
			if out[i], err = x.Texts.Number(text); err != nil {
				return err
			}
		}
		return nil
	}
}

// numberText is %.8g of the C language.
func numberText(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "INF"
	case math.IsInf(v, -1):
		return "-INF"
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', 7, 64), "e")
	if e, _ := strconv.Atoi(exponent); e >= -4 && e < 8 {
		return withoutZeros(strconv.FormatFloat(v, 'f', 7-e, 64))
	}
	return withoutZeros(mantissa) + "e" + exponent
}

func withoutZeros(digits string) string {
	if !strings.Contains(digits, ".") {
		return digits
	}
	return strings.TrimSuffix(strings.TrimRight(digits, "0"), ".")
}

// readNumbers casts text to numbers. A text that is not a number from end to end is an
// error.
func readNumbers[T kernel.Float](to graph.DType) Step[T] {
	return func(x *Exec[T]) error {
		in, out := x.In[0].I, x.Out[0]
		for i, n := range in {
			text := x.Texts.Text(n)
			if out.F != nil {
				v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
				if err != nil {
					return fmt.Errorf("the text %q is not a number of type %s", text, to)
				}
				out.F[i] = T(to.Round(v))
				continue
			}
			v, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			if err != nil || to.Wrap(v) != v && to != graph.Bool {
				return fmt.Errorf("the text %q is not a number of type %s", text, to)
			}
			out.I[i] = to.Wrap(v)
		}
		return nil
	}
}

package interaction

import (
	"fmt"
	"math"
	"testing"

	"github.com/pho-go/pho/decompose"
)

func TestTryReal(t *testing.T) {
	for _, p := range []int{10} {
		for _, rho := range []float64{0, .5, .9} {
			n := 5000
			x := correlated(1, n, p, rho)
			eta := make([]float64, n)
			for i := range eta {
				a := func(j int) float64 { return x[j][i] }
				eta[i] = a(0) + math.Sin(2*a(1)) + a(2)*a(2)/2 + a(3) + .8*a(0)*a(1) + .3*a(2)*math.Sin(2*a(3)) + .25*math.Tanh(a(4)*a(5))
			}
			f := smooths(p)
			r := ranked(t, rows(t, x, eta), []string{"eta"}, names(p), f, decompose.Options{})
			m := r.Predictors[0].Remainder
			was := m.Share
			fmt.Println("n var", r.Predictors[0].Variance.Total*5000, "rss", r.Predictors[0].Variance.Unstructured*5000)
			for _, q := range m.Pairs {
				f += " + " + q.Term
				r := ranked(t, rows(t, x, eta), []string{"eta"}, names(p), f, decompose.Options{})
				d := r.Predictors[0]
				now := d.Remainder.Share
				fmt.Printf("rho=%g  %v predicted %.5f real %.5f  edf %.1f left: share %.4f %v\n", rho, q.Term, q.Gain, was-now, d.EDF, now, d.Remainder.Pairs)
				was = now
			}
		}
	}
}

package interaction

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/pho-go/pho/decompose"
)

func TestTry(t *testing.T) {
	for _, p := range []int{10, 50} {
		for _, rho := range []float64{0, .5, .9} {
			n := 5000
			x := correlated(1, n, p, rho)
			eta := make([]float64, n)
			for i := range eta {
				a := func(j int) float64 { return x[j][i] }
				eta[i] = a(0) + math.Sin(2*a(1)) + a(2)*a(2)/2 + a(3) + .8*a(0)*a(1) + .3*a(2)*math.Sin(2*a(3)) + .25*math.Tanh(a(4)*a(5))
			}
			s := time.Now()
			r := ranked(t, rows(t, x, eta), []string{"eta"}, names(p), smooths(p), decompose.Options{})
			el := time.Since(s)
			m := r.Predictors[0].Remainder
			fmt.Printf("p=%d rho=%g %v share %.4f single %.4f unexpl %.4f\n", p, rho, el, m.Share, m.SingleColumns, m.UnexplainedByPairs)
			for _, q := range m.Pairs {
				fmt.Printf("   %v %.5f p=%.2g\n", q.Term, q.Gain, q.P)
			}
			for _, q := range m.Regions {
				for _, c := range q.Where {
					fmt.Print("   where ", c.Feature)
					if c.From != nil {
						fmt.Print(" from ", *c.From)
					}
					if c.To != nil {
						fmt.Print(" to ", *c.To)
					}
				}
				fmt.Printf(" rows %.3f share %.3f\n", q.Rows, q.Share)
			}
		}
	}
}

package command

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// levelRows is CSV of rows with a column g of 500 levels, which is how many are held by few numbers each, and h and k of 20 and 25, of which
// each combination occurs; c is constant within levels of g, w 0 in two of them, d are clusters; p and r are predictions,
// s those of g and x alone, and u, v and o of three classes.
func levelRows() string {
	const n, levels = 1200, 500
	random := rand.New(rand.NewPCG(3, 1))
	effect := make([]float64, levels)
	for i := range effect {
		effect[i] = random.NormFloat64()
	}
	var text strings.Builder
	text.WriteString("g,h,k,c,x,z,w,d,p,r,u,v,o,s\n")
	for i := range n {
		g := i % levels
		x, z, w := random.NormFloat64(), random.NormFloat64(), 0.5+random.Float64()
		if g == 0 || g == 17 {
			w = 0
		}
		p := math.Sin(2*x) + 0.4*x*z + effect[g] + 0.3*float64(g%20%3*(g/20%2)) + 0.3*random.NormFloat64()
		u, v := math.Exp(p/4), math.Exp(effect[g]/3+x/5)
		fmt.Fprintf(&text, "g%03d,h%d,k%d,%g,%g,%g,%g,d%d,%g,%g,%g,%g,%g,%g\n", g, g%20, g/20, effect[g], x, z, w, random.IntN(40),
			p, p+0.1*random.NormFloat64()*z, u/(1+u+v), v/(1+u+v), 1/(1+u+v), effect[g]+x)
	}
	return text.String()
}

// TestLevelsBesideEverything: beside many levels, which are held by few numbers each, whatever else there is comes out as by the triangular
// factor of the rows, which takes all of their products; parts sum to the predictions.
func TestLevelsBesideEverything(t *testing.T) {
	temp := t.TempDir()
	data := filepath.Join(temp, "rows.csv")
	write(t, data, levelRows())
	for _, c := range []struct {
		formula string
		args    []string
	}{
		{`~ g + s(x)`, nil},
		{`~ s(g, bs="re")`, nil},
		{`~ s(g, bs="re") + s(x)`, []string{"--cluster", "d"}},
		{`~ factor(g, contr="sum") + s(x)`, nil},
		{`~ factor(g, contr="sum") + x`, []string{"--terms", "fitted", "--bands", "rows"}},
		{`~ h + k + h:k`, nil},
		{`~ h + k + h:k + x`, []string{"--terms", "fitted"}},
		{`~ s(h, k, bs="re") + s(x, cuts=c(0))`, nil},
		{`~ s(g, bs="re") + s(x, k=5) + s(z, k=5) + ti(x, z, k=4)`, []string{"--orders"}},
		{`~ 0 + g + x`, []string{"--method", "pho"}},
		{`~ g:x + s(z)`, nil},
		{`~ g + c`, []string{"--method", "pho"}},
		{`~ s(g, bs="re") + c + s(x)`, nil},
		{`~ g + s(x)`, []string{"--weights", "w"}},
		{`~ g + s(x) + z`, []string{"--select"}},
		{`~ s(g, bs="re") + s(x)`, []string{"--smoothing", "gcv"}},
		{`~ s(g, bs="re") + s(x)`, []string{"--predictions", "s"}},
		{`~ s(g, bs="re") + s(x)`, []string{"--predictions", "p", "--predictions", "r"}},
		{`~ s(g, bs="re") + x`, []string{"--predictions", "u,v,o", "--link", "softmax"}},
		{`~ s(g, bs="re") + x`, []string{"--interactions", "1"}},
	} {
		t.Run(strings.Join(append(c.args, c.formula), " "), func(t *testing.T) {
			args := append([]string{"decompose", "--data", data, "--formula", c.formula}, c.args...)
			if !strings.Contains(strings.Join(args, " "), "--predictions") {
				args = append(args, "--predictions", "p")
			}
			few, whole := filepath.Join(t.TempDir(), "few"), filepath.Join(t.TempDir(), "whole")
			if o := done(t, append(args, "--out", few)...); strings.Contains(o.err+o.out, "route qr") {
				t.Errorf("the rows were read again for their factor: %s", o.err)
			}
			done(t, "summary", few)
			header, got := table(t, few, "contributions.csv")
			want := got
			if !testing.Short() {
				done(t, append(args, "--route", "qr", "--out", whole)...)
				_, want = table(t, whole, "contributions.csv")
			}
			sum := make([]float64, len(got))
			for j, name := range header {
				largest, worst := 0.0, 0.0
				for i := range got {
					a, b := number(t, got[i][j]), number(t, want[i][j])
					largest, worst = max(largest, math.Abs(b)), max(worst, math.Abs(a-b))
					if math.IsNaN(a) {
						t.Fatalf("%s is not a number in row %d", name, i+1)
					}
					if strings.HasSuffix(name, "eta") {
						if d := math.Abs(a - sum[i]); d > 1e-9 {
							t.Fatalf("row %d: the parts sum to %g, not %s = %g", i+1, sum[i], name, a)
						}
						sum[i] = 0
						continue
					}
					sum[i] += a
				}
				if worst > 1e-6*max(largest, 1) {
					t.Errorf("%s is off by %.2g of %.2g", name, worst, largest)
				}
			}
		})
	}
}

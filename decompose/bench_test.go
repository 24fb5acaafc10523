//go:build unix

package decompose_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// benchTable has ten numeric features, factors of 12, 100 and 400 levels and three columns
// to be decomposed.
func benchTable(b *testing.B, n int) *data.Table {
	r := rand.New(rand.NewPCG(1, 7))
	tab := data.NewTable(n)
	add := func(name string, f func(i int) float64) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = f(i)
		}
		if err := tab.AddNumeric(name, v); err != nil {
			b.Fatal(err)
		}
		return v
	}
	var x [][]float64
	for j := range 10 {
		x = append(x, add(fmt.Sprintf("x%d", j), func(int) float64 { return r.Float64() }))
	}
	for k := range 3 {
		add(fmt.Sprintf("z%d", k), func(i int) float64 { return math.Sin(3*x[k][i]) + x[k+1][i]*x[k+2][i] })
	}
	for _, levels := range []int{12, 100, 400} {
		text := make([]string, n)
		for i := range text {
			text[i] = fmt.Sprint(r.IntN(levels))
		}
		if err := tab.AddTexts(fmt.Sprintf("g%d", levels), text); err != nil {
			b.Fatal(err)
		}
	}
	return tab
}

// BenchmarkLastPass is the last pass of one worker, a network that costs nothing, with the
// bands of the projection and robust ones; beside it the pass of the moments.
func BenchmarkLastPass(b *testing.B) {
	const n = 1 << 16
	tab := benchTable(b, n)
	smooths := func(s string) string {
		var terms []string
		for j := range 10 {
			terms = append(terms, fmt.Sprintf(s, j))
		}
		return "~ " + strings.Join(terms, "+")
	}
	for _, c := range []struct {
		name, formula string
		k             int
	}{
		{"linear10", smooths("x%d"), 1},
		{"dense60", `~ s(x0,k=11,fx=TRUE)+s(x1,k=11,fx=TRUE)+s(x2,k=11,fx=TRUE)+s(x3,k=11,fx=TRUE)+s(x4,k=11,fx=TRUE)+s(x5,k=11,fx=TRUE)`, 1},
		{"dense200", smooths("s(x%d,k=21,fx=TRUE)"), 1},
		{"bands200", smooths(`s(x%d,bs="ps",k=20)`), 1},
		{"factors512", `~ g12 + g100 + g400`, 1},
		{"mixed", `~ x0 + x1 + s(x2,bs="ps",k=20) + s(x3,bs="ps",k=20) + g100 + te(x4,x5,bs="ps",k=6)`, 1},
		{"threebands200", smooths(`s(x%d,bs="ps",k=20)`), 3},
	} {
		names, responses0 := []string{"z0", "z1", "z2"}[:c.k], []string{"z0", "z1", "z2"}[:c.k]
		f, err := basis.Parse(c.formula, &basis.Options{Schema: tab.Schema()})
		if err != nil {
			b.Fatal(err)
		}
		ctx := context.Background()
		blocks, err := decompose.Prepare(ctx, tab, f.Specs, nil)
		if err != nil {
			b.Fatal(err)
		}
		m, err := decompose.With(&responses{names, responses0}, map[string][]decompose.Block{"": blocks})
		if err != nil {
			b.Fatal(err)
		}
		o := &decompose.Options{Resources: decompose.Resources{Workers: 1}, Projection: decompose.Projection{Method: decompose.PHO}}
		stats, err := decompose.Accumulate(ctx, m, tab, o)
		if err != nil {
			b.Fatal(err)
		}
		r, err := decompose.Solve(ctx, m, stats, o)
		if err != nil {
			b.Fatal(err)
		}
		var before syscall.Rusage
		start := func(b *testing.B) {
			if err := syscall.Getrusage(syscall.RUSAGE_SELF, &before); err != nil {
				b.Fatal(err)
			}
		}
		speed := func(b *testing.B) {
			var after syscall.Rusage
			if err := syscall.Getrusage(syscall.RUSAGE_SELF, &after); err != nil {
				b.Fatal(err)
			}
			used := after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
			b.ReportMetric(float64(used)/float64(b.N)/n, "cpu-ns/row") // others on the machine do not show
		}
		b.Run(c.name+"/moments", func(b *testing.B) {
			start(b)
			for b.Loop() {
				if _, err := decompose.Accumulate(ctx, m, tab, o); err != nil {
					b.Fatal(err)
				}
			}
			speed(b)
		})
		for _, bands := range []string{"projection", "robust", "cluster"} {
			b.Run(c.name+"/"+bands, func(b *testing.B) {
				own := *o
				own.Bands = decompose.Bands(bands)
				if bands == "cluster" {
					own.Bands, own.Cluster = "", "g400"
				}
				start(b)
				for b.Loop() {
					if err := decompose.Explain(ctx, m, tab, r, &own); err != nil {
						b.Fatal(err)
					}
				}
				speed(b)
			})
		}
	}
}

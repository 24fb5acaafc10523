package decompose_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/kernel"
)

// seconds are those of all processors that this process has had.
func seconds(t *testing.T) float64 {
	var u syscall.Rusage
	must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// TestEstimateWork: what runs take is in proportion to what is estimated, within a factor of 3, where products of rows take most of
// it, where the solution does, and where columns are dense. How fast this processor is next to that of the constants is what the
// three have in common; a factor of 10 would be no difference between processors.
func TestEstimateWork(t *testing.T) {
	if testing.Short() {
		t.Skip("times runs of some seconds")
	}
	if family := kernel.Family(false); family != "fma/amd64" {
		t.Skip("constants are of vectors of AVX, these are " + family)
	}
	var names []string
	var ratios []float64
	for _, c := range []struct {
		rows, columns int
		term          string
	}{{40_000, 40, `s(x%d,bs="ps",k=12)`}, {3000, 70, `s(x%d,bs="ps",k=20)`}, {60_000, 300, `x%d`}} {
		random := rand.New(rand.NewPCG(1, 2))
		tab, terms := data.NewTable(c.rows), []string{}
		for j := range c.columns {
			x := make([]float64, c.rows)
			for i := range x {
				x[i] = random.Float64()
			}
			must(t, tab.AddNumeric(fmt.Sprintf("x%d", j), x))
			terms = append(terms, fmt.Sprintf(c.term, j))
		}
		m := formulaModel(t, "~ "+strings.Join(terms, " + "), tab, 1)
		work, err := decompose.EstimateWork(m, int64(c.rows), nil)
		must(t, err)
		took := math.Inf(1)
		for range 2 { // the machine may be busy
			before := seconds(t)
			_, err = decompose.Decompose(context.Background(), m, tab, nil)
			must(t, err)
			took = min(took, seconds(t)-before)
		}
		names = append(names, fmt.Sprintf("%d rows of %d %s: %.2f s, estimated %.2f s: %v", c.rows, c.columns, c.term, took, work.Total(), []decompose.WorkPart(work)))
		ratios = append(ratios, took/work.Total())
	}
	speed := math.Cbrt(ratios[0] * ratios[1] * ratios[2]) // geometric mean
	t.Logf("%.2f of the estimated times", speed)
	for i, r := range ratios {
		if r > 3*speed || r < speed/3 || speed > 10 || speed < 0.1 {
			t.Errorf("%s", names[i])
		}
	}
}

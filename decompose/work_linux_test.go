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

// TestEstimateWork: what a run takes is estimated within a factor of 3, where products of rows take most of it, where the solution
// does, and where columns are dense. Constants are of vectors of AVX-512.
func TestEstimateWork(t *testing.T) {
	if testing.Short() {
		t.Skip("times runs of some seconds")
	}
	if family := kernel.Family(false); family != "fma/amd64" {
		t.Skip("constants are of vectors of AVX, these are " + family)
	}
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
		for range 3 { // the machine may be busy
			before := seconds(t)
			_, err = decompose.Decompose(context.Background(), m, tab, nil)
			must(t, err)
			if took = min(took, seconds(t)-before); took < 3*work.Total() {
				break
			}
		}
		t.Logf("%d rows of %d %s: %.2f s, estimated %.2f s: %s", c.rows, c.columns, c.term, took, work.Total(), work)
		if took > 3*work.Total() || took < work.Total()/3 {
			t.Errorf("%d rows of %d %s took %.2f s, estimated %.2f s: %v", c.rows, c.columns, c.term, took, work.Total(), []decompose.WorkPart(work))
		}
	}
}

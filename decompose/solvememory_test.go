package decompose_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// columnModel is a network whose output is the column eta.
type columnModel struct{}

func (columnModel) Predictors() []string         { return []string{"eta"} }
func (columnModel) Columns() []string            { return []string{"eta"} }
func (columnModel) Intercept(int) float64        { return 0 }
func (columnModel) Blocks(int) []decompose.Block { return nil }
func (columnModel) Taps() map[string]int         { return nil }

func (columnModel) Forward(_ context.Context, dst *decompose.Outputs, b *data.Batch) error {
	v, err := b.Numeric("eta")
	if err == nil {
		dst.Zeta.SetCol(0, v)
		dst.Eta.SetCol(0, v)
	}
	return err
}

// TestSolveMemory: Solve holds what EstimateMemory says of the solution, and not half as
// little: many smooths, and two penalties of a tensor product.
func TestSolveMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector holds memory of its own")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	var many []string
	for j := range 40 {
		many = append(many, fmt.Sprintf(`s(x%d, bs="ps", k=16)`, j))
	}
	for name, formula := range map[string]string{
		"smooths": strings.Join(many, "+"),
		"tensor":  `te(x38, x39, bs="ps", k=c(14, 14))+` + strings.Join(many[:20], "+"),
	} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			m, rows := columnCase(t, formula)
			stats, err := decompose.Accumulate(ctx, m, rows, nil)
			if err != nil {
				t.Fatal(err)
			}
			need, err := decompose.EstimateMemory(m, int64(rows.Rows()), nil)
			if err != nil {
				t.Fatal(err)
			}
			penalised := &decompose.Options{}
			penalised.Method = decompose.PHOGAM
			var estimate float64
			for _, part := range need {
				if part.Name == "solution" {
					estimate = float64(part.Bytes)
				}
			}
			// A collector that has to wait for a processor leaves more than a tenth, and whoever
			// looks may miss the peak: what is held is held each time.
			least, most := math.Inf(1), 0.0
			for range 5 {
				grown, err := peakOf(func() error {
					_, err := decompose.Solve(ctx, m, stats, penalised)
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				held := grown + size(t, stats)
				t.Logf("held %.1f MB, estimated %.1f MB", held/1e6, estimate/1e6)
				if least, most = min(least, held), max(most, held); least <= 1.15*estimate && most >= estimate/2 {
					return // rows and formulas are no matrices
				}
			}
			t.Errorf("Solve held %.1f to %.1f MB, the estimate is %.1f MB", least/1e6, most/1e6, estimate/1e6)
		})
	}
}

// peakOf is by how much the heap grows at most while f runs.
func peakOf(f func() error) (float64, error) {
	debug.FreeOSMemory()
	before, stop, peak := heap(), make(chan struct{}), make(chan float64)
	go func() {
		most := 0.0
		for {
			select {
			case <-stop:
				peak <- most
				return
			case <-time.After(time.Millisecond):
				most = max(most, heap())
			}
		}
	}()
	err := f()
	close(stop)
	return <-peak - before, err
}

// heap is what live and dead objects take.
func heap() float64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return float64(s[0].Value.Uint64())
}

// size is about what the statistics take: the square of their columns, of which files
// hold a triangle.
func size(t *testing.T, s *decompose.Statistics) float64 {
	raw, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return 2 * float64(len(raw))
}

func columnCase(t *testing.T, formula string) (decompose.Model, *data.Table) {
	t.Helper()
	const n = 4000
	r := rand.New(rand.NewPCG(7, 8))
	rows, eta := data.NewTable(n), make([]float64, n)
	for j := range 40 {
		v := make([]float64, n)
		for i := range v {
			v[i] = r.Float64()
			eta[i] += math.Sin(float64(1+j%5) * v[i])
		}
		if err := rows.AddNumeric(fmt.Sprintf("x%d", j), v); err != nil {
			t.Fatal(err)
		}
	}
	for i := range eta {
		eta[i] += r.NormFloat64()
	}
	if err := rows.AddNumeric("eta", eta); err != nil {
		t.Fatal(err)
	}
	parsed, err := basis.Parse("~ "+formula, &basis.Options{Schema: rows.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := decompose.Prepare(context.Background(), rows, parsed.Specs, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := decompose.With(columnModel{}, map[string][]decompose.Block{"": blocks})
	if err != nil {
		t.Fatal(err)
	}
	return m, rows
}

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

// A decomposition by crossed factors holds what EstimateMemory says, and not half as little, though it forms, inverts and multiplies
// matrices of all columns.
func TestCrossedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector holds memory of its own")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	const n, factors, levels = 20_000, 10, 160
	r := rand.New(rand.NewPCG(3, 8))
	rows, eta := data.NewTable(n), make([]float64, n)
	for i := range eta {
		eta[i] = r.NormFloat64()
	}
	var fixed, random []string
	for g := range factors {
		v := make([]string, n)
		for i := range v {
			l := r.IntN(levels)
			v[i] = fmt.Sprint("l", l)
			eta[i] += math.Sin(float64(l * (g + 1)))
		}
		must(t, rows.AddTexts(fmt.Sprintf("g%d", g), v))
		fixed, random = append(fixed, fmt.Sprintf("g%d", g)), append(random, fmt.Sprintf(`s(g%d, bs="re")`, g))
	}
	must(t, rows.AddNumeric("eta", eta))
	for name, terms := range map[string][]string{"factors": fixed, "random effects": random} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			parsed, err := basis.Parse("~ "+strings.Join(terms, "+"), &basis.Options{Schema: rows.Schema()})
			must(t, err)
			blocks, err := decompose.Prepare(ctx, rows, parsed.Specs, nil)
			must(t, err)
			m, err := decompose.With(columnModel{}, map[string][]decompose.Block{"": blocks})
			must(t, err)
			o := &decompose.Options{}
			o.Workers = 2
			need, err := decompose.EstimateMemory(m, n, o)
			must(t, err)
			estimate := float64(need.Total())
			if dense := 12 * 8e-6 * factors * levels * factors * levels; estimate/1e6 > dense {
				t.Errorf("the estimate is %.0f MB, a dozen matrices have %.0f", estimate/1e6, dense)
			}
			least, most := math.Inf(1), 0.0
			for range 3 { // see TestSolveMemory
				held, err := peakOf(func() error {
					_, err := decompose.Decompose(ctx, m, rows, o)
					return err
				})
				must(t, err)
				t.Logf("held %.1f MB, estimated %.1f MB", held/1e6, estimate/1e6)
				if least, most = min(least, held), max(most, held); least <= 1.15*estimate && most >= estimate/2 {
					return
				}
			}
			t.Errorf("it held %.1f to %.1f MB, the estimate is %.1f MB", least/1e6, most/1e6, estimate/1e6)
		})
	}
}

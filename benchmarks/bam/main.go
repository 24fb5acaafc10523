// Command bam times PHOGAM with REML from zeta in memory, next to mgcv's bam: see
// benchmarks/bam.sh. Its cases are the paper's ten functions and, in cases.go, models
// with factors of many levels.
//
//	bam -case C -write FILE -rows N   writes the data, float64 columns, little endian
//	bam -case C -data FILE -rows N    fits them and prints seconds, score, edf and term values
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/benchmarks/internal/column"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/penalty"
)

// values is the number of rows whose term values are printed.
const values = 50

func main() {
	var how smooth
	name := flag.String("case", "ten", "the model: "+strings.Join(names(), ", "))
	rows := flag.Int("rows", 1_000_000, "rows")
	out := flag.String("write", "", "file to write the data to")
	in := flag.String("data", "", "file to read the data from; none: drawn as for -write")
	rounds := flag.Int("rounds", 1, "number of fits")
	flag.StringVar(&how.bs, "bs", "ps", "basis of the ten functions")
	flag.IntVar(&how.k, "k", 20, "its dimension")
	sp := flag.String("sp", "", "smoothing parameters, separated by commas; none: chosen by REML")
	flag.IntVar(&how.knots, "knots", 0, "use the first so many values of a column as the knots of thin plates; 0: chosen from all")
	cpu := flag.String("cpuprofile", "", "file to write a CPU profile of the fit to")
	bound := flag.Bool("bound", false, "print what the fit must cost at least on this machine")
	robust := flag.Bool("robust", false, "make the last pass too, without and with the default bands")
	flag.Parse()
	if err := how.parse(*sp); err != nil {
		log.Fatal(err)
	}
	c, ok := cases[*name]
	if !ok {
		log.Fatalf("case %q: it is %s", *name, strings.Join(names(), ", "))
	}
	if err := run(c, *rows, *rounds, *in, *out, how, *cpu, *robust, *bound); err != nil {
		log.Fatal(err)
	}
}

func run(c model, rows, rounds int, in, out string, how smooth, cpu string, robust, bound bool) error {
	if out != "" {
		return write(out, c.simulate(rows))
	}
	var values [][]float64
	if in == "" {
		values = c.simulate(rows)
	} else {
		var err error
		if values, err = read(in, rows, len(c.columns)); err != nil {
			return err
		}
	}
	if cpu != "" {
		f, err := os.Create(cpu)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	table, err := c.table(values)
	if err != nil {
		return err
	}
	fastest := math.Inf(1)
	var iterations int
	for i := range rounds {
		runtime.GC()
		var took float64
		if took, iterations, err = fit(c, table, values, how, i == rounds-1, robust); err != nil {
			return err
		}
		fastest = min(fastest, took)
	}
	if bound {
		c.work(how).bound(rows, runtime.GOMAXPROCS(0), iterations, fastest)
	}
	return nil
}

func write(path string, columns [][]float64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for _, c := range columns {
		if err := binary.Write(w, binary.LittleEndian, c); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

func read(path string, rows, width int) ([][]float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	columns := make([][]float64, width)
	for j := range columns {
		columns[j] = make([]float64, rows)
		if err := binary.Read(r, binary.LittleEndian, columns[j]); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

// fit prints and returns the time of a whole fit from columns in memory: levels, ranges, knots,
// moments, smoothing parameters, standard errors by the projection. If asked to it prints
// values of the terms too.
func fit(c model, table *data.Table, columns [][]float64, how smooth, terms, robust bool) (seconds float64, iterations int, err error) {
	ctx := context.Background()
	started := time.Now()
	specs, err := c.specs(columns, how)
	if err != nil {
		return 0, 0, err
	}
	blocks, err := decompose.Prepare(ctx, table, specs, nil)
	if err != nil {
		return 0, 0, err
	}
	m, err := decompose.With(column.Network("z"), map[string][]decompose.Block{"": blocks})
	if err != nil {
		return 0, 0, err
	}
	scanned := time.Now()
	stats, err := decompose.Accumulate(ctx, m, table, nil)
	if err != nil {
		return 0, 0, err
	}
	accumulated := time.Now()
	// mgcv's terms: not moved within the levels that they share with others.
	r, err := decompose.Solve(ctx, m, stats, &decompose.Options{Projection: decompose.Projection{Terms: decompose.Fitted}})
	if err != nil {
		return 0, 0, err
	}
	solved := time.Now()
	p := r.Predictors[0]
	seconds, iterations = solved.Sub(started).Seconds(), p.Iterations
	fmt.Printf("seconds %.3f scan %.3f moments %.3f solve %.3f score %.10g edf %.4f iterations %d\n", seconds,
		scanned.Sub(started).Seconds(), accumulated.Sub(scanned).Seconds(), solved.Sub(accumulated).Seconds(), *p.Score, p.EDF, iterations)
	if robust {
		if err := explain(ctx, m, table, r); err != nil {
			return 0, 0, err
		}
	}
	if !terms {
		return seconds, iterations, nil
	}
	var sp []float64
	for _, t := range p.Terms {
		sp = append(sp, t.SP...)
	}
	fmt.Println("sp", strings.Trim(fmt.Sprint(sp), "[]"))
	if how.sp != nil { // fits that are compared, of few rows: others would take long to be evaluated again
		for j, t := range p.Terms {
			if b := blocks[j]; len(t.SP) > 0 && b.Coordinates.Map() == nil {
				if err := printMultipliers(ctx, t.SP, b, table); err != nil {
					return 0, 0, err
				}
			}
		}
	}
	return seconds, iterations, printValues(ctx, m, r, table)
}

// explain prints the time of the last pass without the default bands, and what they add.
func explain(ctx context.Context, m decompose.Model, table *data.Table, r *decompose.Result) error {
	var seconds [2]float64
	for i, bands := range []decompose.Bands{decompose.ProjectionBands, decompose.RobustBands} {
		runtime.GC()
		started := time.Now()
		if err := decompose.Explain(ctx, m, table, r, &decompose.Options{Bands: bands}); err != nil {
			return err
		}
		seconds[i] = time.Since(started).Seconds()
	}
	fmt.Printf("last pass %.3f bands %.3f\n", seconds[0], seconds[1]-seconds[0])
	return nil
}

// printMultipliers prints what multiplies a term's penalties as they are. The scale that
// smoothing parameters are reported on is that of the largest row of the term's columns. Those of
// fs depend on which functions of the null space they happen to be, and ours are not mgcv's.
func printMultipliers(ctx context.Context, sp []float64, b decompose.Block, table *data.Table) error {
	norm := 0.0
	for rows, err := range data.Rebatch(table.Batches(ctx, b.Term.Columns()), 500) {
		if err != nil {
			return err
		}
		x := mat.NewDense(rows.Rows(), b.Term.Dim(), nil)
		if err := b.Term.Eval(x, rows); err != nil {
			return err
		}
		norm = max(norm, mat.Norm(x, math.Inf(1)))
	}
	fmt.Print("multipliers")
	for k, v := range sp {
		_, factor := penalty.Scale(b.Penalty.S[k], norm)
		fmt.Print(" ", v*factor)
	}
	fmt.Println()
	return nil
}

// printValues prints each term's values in the first rows, a line for a term.
func printValues(ctx context.Context, m decompose.Model, r *decompose.Result, table *data.Table) error {
	a, err := r.Applier(m)
	if err != nil {
		return err
	}
	for b, err := range data.Rebatch(table.Batches(ctx, table.Schema().Names()), values) {
		if err != nil {
			return err
		}
		for j := range r.Predictors[0].Terms {
			e, err := a.Effect(ctx, 0, j, b)
			if err != nil {
				return err
			}
			fmt.Println("term", strings.Trim(fmt.Sprint(e.After), "[]"))
		}
		break
	}
	return nil
}

// Command bam times PHOGAM with REML on the paper's ten functions, from zeta in
// memory, next to mgcv's bam: see benchmarks/bam.sh.
//
//	bam -write FILE -rows N   writes the data, float64 columns x0..x9 and z, little endian
//	bam -data FILE -rows N    fits them and prints seconds, score, edf and term values
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// values is the number of rows whose term values are printed.
const values = 50

func main() {
	rows := flag.Int("rows", 1_000_000, "rows")
	out := flag.String("write", "", "file to write the data to")
	in := flag.String("data", "", "file to read the data from; none: drawn as for -write")
	rounds := flag.Int("rounds", 1, "number of fits")
	bs := flag.String("bs", "ps", "basis")
	k := flag.Int("k", 20, "its dimension")
	sp := flag.String("sp", "", "ten smoothing parameters, separated by commas; none: chosen by REML")
	knots := flag.Int("knots", 0, "use the first so many values of each column as its knots; 0: chosen from all")
	cpu := flag.String("cpuprofile", "", "file to write a CPU profile of the fit to")
	flag.Parse()
	if err := run(*rows, *rounds, *in, *out, smooth{*bs, *k, *knots, strings.Split(*sp, ",")}, *cpu); err != nil {
		log.Fatal(err)
	}
}

// smooth is how a term is written.
type smooth struct {
	bs    string
	k     int
	knots int
	sp    []string // one each, or a single empty one
}

// spec of column j with values x.
func (s smooth) spec(j int, x []float64) (decompose.Spec, error) {
	name, o := fmt.Sprintf("x%d", j), &basis.SmoothOptions{}
	if len(s.sp) > j && s.sp[j] != "" {
		v, err := strconv.ParseFloat(s.sp[j], 64)
		if err != nil {
			return nil, fmt.Errorf("smoothing parameter %d: %w", j+1, err)
		}
		o.SP = []float64{v}
	}
	switch s.bs {
	case "ps":
		return basis.Smooth(name, basis.PS{K: s.k}, o), nil
	case "tp":
		return basis.Smooth(name, basis.TP{K: s.k, Knots: x[:min(s.knots, len(x))]}, o), nil
	}
	return nil, fmt.Errorf("basis %q: it is ps or tp", s.bs)
}

func run(rows, rounds int, in, out string, how smooth, cpu string) error {
	if out != "" {
		return write(out, simulate(rows))
	}
	var columns [][]float64
	if in == "" {
		columns = simulate(rows)
	} else {
		var err error
		if columns, err = read(in, rows); err != nil {
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
	for i := range rounds {
		runtime.GC()
		if err := fit(columns, how, i == rounds-1); err != nil {
			return err
		}
	}
	return nil
}

// simulate draws x0..x9 and z, the sum of the paper's ten functions and noise.
func simulate(rows int) [][]float64 {
	f := []func(float64) float64{
		func(x float64) float64 { return math.Cos(5 * x) },
		func(x float64) float64 { return math.Tanh(3 * x) },
		func(x float64) float64 { return -x * x * x },
		func(x float64) float64 { return -3 * x * math.Cos(3*x-2) },
		func(x float64) float64 { return math.Exp(0.5*x) - 1 },
		func(x float64) float64 { return x * x },
		func(x float64) float64 { return math.Sin(x) * math.Cos(x) },
		func(x float64) float64 { return math.Sqrt(math.Abs(x)) },
		func(x float64) float64 { return math.Exp(-x*x/2)/math.Sqrt(2*math.Pi) - 1.0/8 },
		func(x float64) float64 { return -x * math.Tanh(3*x) * math.Sin(4*x) },
	}
	random := rand.New(rand.NewPCG(7, 8))
	columns := make([][]float64, len(f)+1)
	for j := range columns {
		columns[j] = make([]float64, rows)
	}
	for i := range rows {
		z := random.NormFloat64()
		for j := range f {
			x := random.NormFloat64()
			columns[j][i] = x
			z += f[j](x)
		}
		columns[len(f)][i] = z
	}
	return columns
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

func read(path string, rows int) ([][]float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	columns := make([][]float64, 11)
	for j := range columns {
		columns[j] = make([]float64, rows)
		if err := binary.Read(r, binary.LittleEndian, columns[j]); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

// zeta is a deep predictor that is a column: nothing is left to the network.
type zeta struct{}

func (zeta) Predictors() []string         { return []string{"eta"} }
func (zeta) Columns() []string            { return []string{"z"} }
func (zeta) Intercept(int) float64        { return 0 }
func (zeta) Blocks(int) []decompose.Block { return nil }
func (zeta) Taps() map[string]int         { return nil }
func (zeta) Forward(_ context.Context, dst *decompose.Outputs, b *data.Batch) error {
	z, err := b.Numeric("z")
	if err != nil {
		return err
	}
	dst.Zeta.SetCol(0, z)
	dst.Eta.SetCol(0, z)
	return nil
}

// fit prints the time of a whole fit from columns in memory: ranges, knots, moments,
// smoothing parameters. If asked to it prints values of the terms too.
func fit(columns [][]float64, how smooth, terms bool) error {
	ctx := context.Background()
	table := data.NewTable(len(columns[0]))
	table.BatchRows = 65536
	var specs []decompose.Spec
	for j, c := range columns {
		name := "z"
		if j < len(columns)-1 {
			name = fmt.Sprintf("x%d", j)
			spec, err := how.spec(j, c)
			if err != nil {
				return err
			}
			specs = append(specs, spec)
		}
		if err := table.AddNumeric(name, c); err != nil {
			return err
		}
	}
	started := time.Now()
	blocks, err := decompose.Prepare(ctx, table, specs, nil)
	if err != nil {
		return err
	}
	m, err := decompose.With(zeta{}, map[string][]decompose.Block{"": blocks})
	if err != nil {
		return err
	}
	scanned := time.Now()
	stats, err := decompose.Accumulate(ctx, m, table, nil)
	if err != nil {
		return err
	}
	accumulated := time.Now()
	r, err := decompose.Solve(ctx, m, stats, nil)
	if err != nil {
		return err
	}
	p := r.Predictors[0]
	fmt.Printf("seconds %.3f scan %.3f moments %.3f solve %.3f score %.10g edf %.4f\n", time.Since(started).Seconds(),
		scanned.Sub(started).Seconds(), accumulated.Sub(scanned).Seconds(), time.Since(accumulated).Seconds(), *p.Score, p.EDF)
	if !terms {
		return nil
	}
	a, err := r.Applier(m)
	if err != nil {
		return err
	}
	for b, err := range data.Rebatch(table.Batches(ctx, table.Schema().Names()), values) {
		if err != nil {
			return err
		}
		for j := range p.Terms {
			e, err := a.Effect(ctx, 0, j, b)
			if err != nil {
				return err
			}
			fmt.Println(strings.Trim(fmt.Sprint(e.After), "[]"))
		}
		break
	}
	return nil
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/benchmarks/internal/column"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// formula: routes are random, for origins and destinations are sums of them.
const formula = `arr_delay ~ carrier + origin + dest + s(sched_dep_min, bs="cc", k=20, period=c(0,1440)) + s(yearday, bs="cc", k=20, period=c(0.5,366.5)) + s(distance, bs="ps", k=10) + s(sched_arr_min, bs="ps", k=20) + s(route, bs="re")`

const (
	valueRows = 500     // whose term values are written
	truthRows = 200_000 // over which errors are averaged

	memory = 1280 << 20 // bytes from which on memory is collected sooner
)

// fit streams the rows and prints what it took.
type fit struct {
	formula, values, profile string
	workers                  int
	truth                    bool
}

func (f *fit) run(ctx context.Context, paths []string) error {
	debug.SetMemoryLimit(memory)
	if f.profile != "" {
		out, err := os.Create(f.profile)
		if err != nil {
			return err
		}
		defer out.Close()
		if err := pprof.StartCPUProfile(out); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	src, err := open(paths)
	if err != nil {
		return err
	}
	started := time.Now()
	parsed, err := basis.Parse(f.formula, &basis.Options{Schema: src.Schema()})
	if err != nil {
		return err
	}
	blocks, err := decompose.Prepare(ctx, src, parsed.Specs, nil)
	if err != nil {
		return err
	}
	m, err := decompose.With(column.Network(parsed.Response), map[string][]decompose.Block{"": blocks})
	if err != nil {
		return err
	}
	scanned := time.Now()
	stats, err := decompose.Accumulate(ctx, m, src, &decompose.Options{Resources: decompose.Resources{Workers: f.workers}})
	if err != nil {
		return err
	}
	accumulated := time.Now()
	r, err := decompose.Solve(ctx, m, stats, nil)
	if err != nil {
		return err
	}
	solved := time.Now()
	p := &r.Predictors[0]
	seconds := solved.Sub(started).Seconds()
	fmt.Printf("rows %d seconds %.3f scan %.3f moments %.3f solve %.3f rows/s %.0f cpu %.1f peak MiB %d columns %d edf %.4f score %.10g\n",
		r.Rows, seconds, scanned.Sub(started).Seconds(), accumulated.Sub(scanned).Seconds(), solved.Sub(accumulated).Seconds(),
		float64(r.Rows)/seconds, processor(), peak()>>20, p.Columns, p.EDF, *p.Score)
	for _, w := range r.Warnings {
		fmt.Fprintln(os.Stderr, "flights: warning:", w)
	}
	a, err := r.Applier(m)
	if err != nil {
		return err
	}
	if f.truth {
		if err := errorsOf(ctx, p, a); err != nil {
			return err
		}
	}
	if f.values != "" {
		return write(ctx, f.values, src, p, a)
	}
	return nil
}

// errorsOf prints how far terms, and their sum, are from the effects that the rows
// were drawn with: root mean squares over rows, each about its mean.
func errorsOf(ctx context.Context, p *decompose.Predictor, a *decompose.Applier) error {
	w := newWorld(seed)
	total, truth := make([]float64, truthRows), make([]float64, truthRows)
	effects := make([][]float64, len(p.Terms))
	trues := make([][]float64, len(p.Terms))
	for at := 0; at < truthRows; at += blockRows {
		b, err := w.block(at/blockRows, blockRows)
		if err != nil {
			return err
		}
		parts, err := a.Parts(ctx, b)
		if err != nil {
			return err
		}
		for j, t := range p.Terms {
			v, err := w.truth(t.Name, b)
			if err != nil {
				return err
			}
			effects[j] = append(effects[j], mat.Col(nil, j, parts.Predictors[0].Terms)...)
			trues[j] = append(trues[j], v...)
		}
	}
	for j, t := range p.Terms {
		for i := range total {
			total[i] += effects[j][i]
			truth[i] += trues[j][i]
		}
		fmt.Printf("error %-18s %8.4f of %8.4f  edf %9.3f  sp %.4g\n", t.Name, distance(effects[j], trues[j]), distance(trues[j], nil), t.EDF, t.SP)
	}
	fmt.Printf("error %-18s %8.4f of %8.4f\n", "sum of terms", distance(total, truth), distance(truth, nil))
	return nil
}

// truth are the values of a term that the rows were drawn with.
func (w *world) truth(term string, b *data.Batch) ([]float64, error) {
	smooth := map[string]func(float64) float64{"sched_dep_min": byDeparture, "yearday": byYearday, "distance": byDistance, "sched_arr_min": byArrival}
	level := map[string][]float64{"carrier": w.effect.carrier, "origin": w.effect.origin, "dest": w.effect.dest, "route": w.effect.route}
	name := strings.TrimSuffix(strings.TrimPrefix(term, "s("), ")")
	v := make([]float64, b.Rows())
	if f, ok := smooth[name]; ok {
		x, err := b.Numeric(name)
		if err != nil {
			return nil, err
		}
		for i := range v {
			v[i] = f(x[i])
		}
		return v, nil
	}
	e, ok := level[name]
	if !ok {
		return nil, fmt.Errorf("flights have no effect of %q", term)
	}
	c, err := b.Codes(name)
	if err != nil {
		return nil, err
	}
	for i := range v {
		v[i] = e[c.Index[i]]
	}
	return v, nil
}

// distance is the root mean square of a - b about its mean; b nil: zeros.
func distance(a, b []float64) float64 {
	sum, squares := 0.0, 0.0
	for i, v := range a {
		if b != nil {
			v -= b[i]
		}
		sum += v
		squares += v * v
	}
	n := float64(len(a))
	return math.Sqrt(math.Max(0, squares/n-sq(sum/n)))
}

// write writes the values of the terms at the first rows, and their names.
func write(ctx context.Context, path string, src data.Source, p *decompose.Predictor, a *decompose.Applier) error {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer out.Close()
	w := bufio.NewWriter(out)
	var names []string
	for _, t := range p.Terms {
		names = append(names, t.Name)
	}
	fmt.Fprintln(w, strings.Join(names, " "))
	for b, err := range data.Rebatch(src.Batches(ctx, src.Schema().Names()), valueRows) {
		if err != nil {
			return err
		}
		parts, err := a.Parts(ctx, b)
		if err != nil {
			return err
		}
		for j := range p.Terms {
			fmt.Fprintln(w, strings.Trim(fmt.Sprint(mat.Col(nil, j, parts.Predictors[0].Terms)), "[]"))
		}
		break
	}
	return errors.Join(w.Flush(), out.Close())
}

// processor is the time in seconds that the process has spent on processors, 0
// where the system does not tell.
func processor() float64 {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	// utime and stime are fields 14 and 15, in hundredths (proc(5)); the second
	// field, a name in parentheses, may hold spaces.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	var user, system float64
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		return 0
	}
	return (user + system) / 100
}

// peak is the largest resident memory of the process so far in bytes, 0 where the
// system does not tell.
func peak() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil || runtime.GOOS != "linux" {
		return 0
	}
	_, line, _ := bytes.Cut(status, []byte("VmHWM:"))
	var kib int64
	if _, err := fmt.Sscan(string(line), &kib); err != nil {
		return 0
	}
	return kib << 10
}

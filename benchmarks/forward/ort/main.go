// Command ort is ONNX Runtime's side of benchmarks/forward.sh, called through its C
// API with memory that is bound once: a module of its own, for it needs cgo.
//
//	ort LIBRARY    the path of libonnxruntime.so
//
// It prints the version and then answers lines of the standard input:
//
//	settings MODEL DATA TYPE COLUMNS OUTPUTS ROWS THREADS
//	                      the ways it can run the rows in file DATA (float64), between tabs,
//	                      in float32 or float64; or "error: " and why there is none
//	run NUMBER SECONDS    rows/s with the setting of that number: the median of its passes
//	answer FILE           writes the outputs as float64, "ok"
package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	ort "github.com/yalue/onnxruntime_go"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "ort:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return errors.New("usage: ort LIBRARY")
	}
	ort.SetSharedLibraryPath(os.Args[1])
	if err := ort.InitializeEnvironment(ort.WithLogLevelError()); err != nil {
		return err
	}
	fmt.Println("ONNX Runtime " + ort.GetVersion())
	var all []*setting
	var outputs func() []float64
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "settings":
			closeAll(all)
			var t task
			_, err := fmt.Sscan(rest, &t.model, &t.data, &t.kind, &t.columns, &t.outputs, &t.rows, &t.threads)
			if err != nil {
				return err
			}
			if t.kind == "float64" {
				all, outputs, err = settings[float64](t)
			} else {
				all, outputs, err = settings[float32](t)
			}
			if err != nil {
				fmt.Println("error:", strings.ReplaceAll(err.Error(), "\n", " "))
				continue
			}
			var names []string
			for _, s := range all {
				names = append(names, s.name)
			}
			fmt.Println(strings.Join(names, "\t"))
		case "run":
			var number int
			var seconds float64
			if _, err := fmt.Sscan(rest, &number, &seconds); err != nil {
				return err
			}
			rate, err := all[number].run(seconds)
			if err != nil {
				return err
			}
			fmt.Println(rate)
		case "answer":
			if err := write(rest, outputs()); err != nil {
				return err
			}
			fmt.Println("ok")
		default:
			return fmt.Errorf("unknown request %q", lines.Text())
		}
	}
	return lines.Err()
}

// task is what to run.
type task struct {
	model, data, kind               string
	columns, outputs, rows, threads int
}

// setting is one way to run the rows: callers side by side that take the next block of
// rows until none is left, and a session that all of them call or one for each.
type setting struct {
	name     string
	rows     int
	sessions []*ort.DynamicAdvancedSession // by caller
	blocks   []block
}

// block is a part of the rows, bound once.
type block struct{ x, y []ort.Value }

// number is what a network computes in.
type number interface{ float32 | float64 }

// settings are the ways that are tried: all have the same inputs and outputs.
func settings[T number](t task) ([]*setting, func() []float64, error) {
	x, err := values[T](t.data, t.rows*t.columns)
	if err != nil {
		return nil, nil, err
	}
	y := make([]T, t.rows*t.outputs)
	one, err1 := session(t.model, 1)
	many, err2 := session(t.model, t.threads)
	if err := errors.Join(err1, err2); err != nil {
		return nil, nil, err
	}
	all := []*setting{
		{name: "1 session of 1 thread, all rows a call", sessions: []*ort.DynamicAdvancedSession{one}},
		{name: fmt.Sprintf("1 session of %d threads, all rows a call", t.threads), sessions: []*ort.DynamicAdvancedSession{many}},
	}
	sizes := []int{t.rows, t.rows}
	if t.rows > 32 {
		other, err1 := session(t.model, 1)
		between, err2 := session(t.model, 1, t.threads)
		if err := errors.Join(err1, err2); err != nil {
			return nil, nil, err
		}
		all = append(all, &setting{name: fmt.Sprintf("1 session of %d threads between nodes, all rows a call", t.threads), sessions: []*ort.DynamicAdvancedSession{between}})
		sizes = append(sizes, t.rows)
		shared := slices.Repeat([]*ort.DynamicAdvancedSession{one}, t.threads)
		own := append([]*ort.DynamicAdvancedSession{other}, shared[1:]...) // of two callers
		for _, size := range []int{256, 512, 1024, 2048} {
			all = append(all,
				&setting{name: fmt.Sprintf("%d callers of 1 session of 1 thread, %d rows a call", t.threads, size), sessions: shared})
			sizes = append(sizes, size)
			if t.threads == 2 {
				all = append(all, &setting{name: fmt.Sprintf("2 sessions of 1 thread, %d rows a call", size), sessions: own})
				sizes = append(sizes, size)
			}
		}
	}
	for k, s := range all {
		s.rows = t.rows
		for i := 0; i < t.rows; i += sizes[k] {
			n := min(sizes[k], t.rows-i)
			b, err := bind(x[i*t.columns:(i+n)*t.columns], y[i*t.outputs:(i+n)*t.outputs], n)
			if err != nil {
				return nil, nil, err
			}
			s.blocks = append(s.blocks, b)
		}
	}
	if _, err := all[0].run(0); err != nil {
		return nil, nil, err
	}
	return all, func() []float64 {
		out := make([]float64, len(y))
		for i, v := range y {
			out[i] = float64(v)
		}
		return out
	}, nil
}

// closeAll gives back the sessions of a network, some of which settings share.
func closeAll(all []*setting) {
	closed := map[*ort.DynamicAdvancedSession]bool{}
	for _, s := range all {
		for _, x := range s.sessions {
			if !closed[x] {
				closed[x] = x.Destroy() == nil
			}
		}
		for _, b := range s.blocks {
			_ = errors.Join(b.x[0].Destroy(), b.y[0].Destroy())
		}
	}
}

// options are for so many threads within a node, and between nodes if that is given.
func options(threads int, between ...int) (*ort.SessionOptions, error) {
	o, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	for _, n := range between {
		err = errors.Join(err, o.SetExecutionMode(ort.ExecutionModeParallel), o.SetInterOpNumThreads(n))
	}
	return o, errors.Join(err, o.SetIntraOpNumThreads(threads))
}

func session(model string, threads int, between ...int) (*ort.DynamicAdvancedSession, error) {
	o, err := options(threads, between...)
	if err != nil {
		return nil, err
	}
	s, err := ort.NewDynamicAdvancedSession(model, []string{"x"}, []string{"y"}, o)
	return s, errors.Join(err, o.Destroy())
}

func bind[T number](x, y []T, n int) (block, error) {
	rows := int64(n)
	in, err1 := ort.NewTensor(ort.NewShape(rows, int64(len(x))/rows), x)
	out, err2 := ort.NewTensor(ort.NewShape(rows, int64(len(y))/rows), y)
	return block{[]ort.Value{in}, []ort.Value{out}}, errors.Join(err1, err2)
}

// run passes over all rows again and again for so many seconds and returns the rows/s of
// the median pass: on a machine that others use, too, some passes are interrupted.
func (s *setting) run(seconds float64) (float64, error) {
	deadline := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	group := max(1, 256/s.rows) // passes timed together
	var took []float64
	for len(took) == 0 || time.Now().Before(deadline) {
		started := time.Now()
		for range group {
			if err := s.pass(); err != nil {
				return 0, err
			}
		}
		took = append(took, time.Since(started).Seconds())
	}
	slices.Sort(took)
	return float64(s.rows*group) / took[len(took)/2], nil
}

func (s *setting) pass() error {
	if len(s.sessions) == 1 {
		for _, b := range s.blocks {
			if err := s.sessions[0].Run(b.x, b.y); err != nil {
				return err
			}
		}
		return nil
	}
	var wait sync.WaitGroup
	var next atomic.Int64
	errs := make([]error, len(s.sessions))
	work := func(w int) {
		for errs[w] == nil {
			i := int(next.Add(1)) - 1
			if i >= len(s.blocks) {
				return
			}
			errs[w] = s.sessions[w].Run(s.blocks[i].x, s.blocks[i].y)
		}
	}
	for w := 1; w < len(s.sessions); w++ {
		wait.Go(func() { work(w) })
	}
	work(0)
	wait.Wait()
	return errors.Join(errs...)
}

// values are the first n of a file.
func values[T number](path string, n int) ([]T, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(raw) < 8*n {
		return nil, fmt.Errorf("%s has less than %d numbers", path, n)
	}
	x := make([]T, n)
	for i := range x {
		x[i] = T(math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:])))
	}
	return x, nil
}

func write(path string, v []float64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(binary.Write(f, binary.LittleEndian, v), f.Close())
}

// Command ort is ONNX Runtime's side of benchmarks/forward.sh, called through its C
// API with memory that is bound once: a module of its own, for it needs cgo.
//
//	ort LIBRARY    the path of libonnxruntime.so
//
// It prints the version and then answers lines of the standard input:
//
//	settings MODEL INPUTS ROWS THREADS    the ways it can run so many rows, between tabs
//	run NUMBER SECONDS                    rows/s with the setting of that number
//	answer FILE                           writes the outputs as float32, "ok"
//	latency MODEL INPUTS CALLS            median microseconds of a call with one row
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
	if err := ort.InitializeEnvironment(); err != nil {
		return err
	}
	fmt.Println("ONNX Runtime " + ort.GetVersion())
	var all []*setting
	var outputs []float32
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var model, file string
		var inputs, rows, threads, number, calls int
		var seconds float64
		word, rest, _ := strings.Cut(lines.Text(), " ")
		var err error
		switch word {
		case "settings":
			if _, err = fmt.Sscan(rest, &model, &inputs, &rows, &threads); err == nil {
				all, outputs, err = settings(model, inputs, rows, threads)
			}
			for i, s := range all {
				fmt.Print(map[bool]string{true: "", false: "\t"}[i == 0], s.name)
			}
			fmt.Println()
		case "run":
			var rate float64
			if _, err = fmt.Sscan(rest, &number, &seconds); err == nil {
				rate, err = all[number].run(seconds)
			}
			fmt.Println(rate)
		case "answer":
			if _, err = fmt.Sscan(rest, &file); err == nil {
				err = write(file, outputs)
			}
			fmt.Println("ok")
		case "latency":
			var took float64
			if _, err = fmt.Sscan(rest, &model, &inputs, &calls); err == nil {
				took, outputs, err = latency(model, inputs, calls)
			}
			fmt.Println(took)
		default:
			err = fmt.Errorf("unknown request %q", lines.Text())
		}
		if err != nil {
			return err
		}
	}
	return lines.Err()
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

// settings are the ways that are tried: all have the same inputs and outputs.
func settings(model string, inputs, rows, threads int) ([]*setting, []float32, error) {
	x, y := values(rows, inputs), make([]float32, rows)
	one, err1 := session(model, 1)
	other, err2 := session(model, 1)
	many, err3 := session(model, threads)
	between, err4 := session(model, 1, threads)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, nil, err
	}
	shared := make([]*ort.DynamicAdvancedSession, threads)
	for i := range shared {
		shared[i] = one
	}
	own := append([]*ort.DynamicAdvancedSession{other}, shared[1:]...) // of two callers
	all := []*setting{
		{name: "1 session of 1 thread, all rows a call", sessions: shared[:1]},
		{name: fmt.Sprintf("1 session of %d threads, all rows a call", threads), sessions: []*ort.DynamicAdvancedSession{many}},
		{name: fmt.Sprintf("1 session of %d threads between nodes, all rows a call", threads), sessions: []*ort.DynamicAdvancedSession{between}},
	}
	sizes := []int{rows, rows, rows}
	for _, size := range []int{256, 512, 1024, 2048} {
		all = append(all,
			&setting{name: fmt.Sprintf("%d callers of 1 session of 1 thread, %d rows a call", threads, size), sessions: shared})
		sizes = append(sizes, size)
		if threads == 2 {
			all = append(all, &setting{name: fmt.Sprintf("2 sessions of 1 thread, %d rows a call", size), sessions: own})
			sizes = append(sizes, size)
		}
	}
	for k, s := range all {
		s.rows = rows
		for i := 0; i < rows; i += sizes[k] {
			n := min(sizes[k], rows-i)
			b, err := bind(x[i*inputs:(i+n)*inputs], y[i:i+n])
			if err != nil {
				return nil, nil, err
			}
			s.blocks = append(s.blocks, b)
		}
	}
	return all, y, nil
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
	return ort.NewDynamicAdvancedSession(model, []string{"x"}, []string{"y"}, o)
}

func bind(x, y []float32) (block, error) {
	rows := int64(len(y))
	in, err1 := ort.NewTensor(ort.NewShape(rows, int64(len(x))/rows), x)
	out, err2 := ort.NewTensor(ort.NewShape(rows, 1), y)
	return block{[]ort.Value{in}, []ort.Value{out}}, errors.Join(err1, err2)
}

// run does all rows again and again for so many seconds and returns rows/s.
func (s *setting) run(seconds float64) (float64, error) {
	started := time.Now()
	deadline := started.Add(time.Duration(seconds * float64(time.Second)))
	done := 0
	for time.Now().Before(deadline) {
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
		if err := errors.Join(errs...); err != nil {
			return 0, err
		}
		done += s.rows
	}
	return float64(done) / time.Since(started).Seconds(), nil
}

// latency times calls with one row, one by one, on one thread.
func latency(model string, inputs, calls int) (float64, []float32, error) {
	y := make([]float32, 1)
	b, err := bind(values(1, inputs), y)
	if err != nil {
		return 0, nil, err
	}
	o, err := options(1)
	if err != nil {
		return 0, nil, err
	}
	s, err := ort.NewAdvancedSession(model, []string{"x"}, []string{"y"}, b.x, b.y, o)
	if err != nil {
		return 0, nil, err
	}
	took := make([]float64, calls)
	for i := range took {
		started := time.Now()
		if err := s.Run(); err != nil {
			return 0, nil, err
		}
		took[i] = float64(time.Since(started).Nanoseconds()) / 1e3
	}
	slices.Sort(took)
	return took[calls/2], y, nil
}

// values are those of benchmarks/forward.
func values(rows, inputs int) []float32 {
	x := make([]float32, rows*inputs)
	for i := range x {
		r, j := i/inputs, i%inputs
		x[i] = float32(math.Sin(float64(r*r)*0.37 + float64((r+1)*j)*1.3))
	}
	return x
}

func write(path string, v []float32) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(binary.Write(f, binary.LittleEndian, v), f.Close())
}

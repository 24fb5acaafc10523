// Command boosters predicts rows with a booster from its library's own file: -model FILE, -rows FILE, which are
// float64 numbers, row by row, -columns of them in a row. It prints the seconds that a prediction on -threads goroutines takes, and
// writes the scores to -out.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"sync"
	"time"

	"github.com/pho-go/pho/adapters/boosters"
	"github.com/pho-go/pho/adapters/onnx"
)

func main() {
	model, rowsFile, out := flag.String("model", "", ""), flag.String("rows", "", ""), flag.String("out", "", "")
	columns, threads := flag.Int("columns", 20, ""), flag.Int("threads", 2, "")
	flag.Parse()
	x, err := numbers(*rowsFile)
	if err == nil {
		err = predict(*model, *out, x, *columns, *threads)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func numbers(path string) ([]float64, error) {
	raw, err := os.ReadFile(path)
	x := make([]float64, len(raw)/8)
	for i := range x {
		x[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
	}
	return x, err
}

func predict(model, out string, x []float64, columns, threads int) error {
	f, err := os.Open(model)
	if err != nil {
		return err
	}
	defer f.Close()
	begin := time.Now()
	g, err := boosters.Load(f, nil)
	if err != nil {
		return err
	}
	loaded := time.Since(begin)
	bind := onnx.Unbound(g)
	m, err := onnx.NewModel(g, bind, nil)
	if err != nil {
		return err
	}
	e, err := onnx.GoEngine{}.Prepare(m.Graph(), []string{g.Outputs()[0].Name})
	if err != nil {
		return err
	}
	rows := len(x) / columns
	y := make([]float64, rows)
	begin = time.Now()
	if err := run(e, y, x, rows, columns, threads); err != nil {
		return err
	}
	fmt.Printf("%.4f s, loaded in %.2f s\n", time.Since(begin).Seconds(), loaded.Seconds())
	raw := make([]byte, 0, 8*rows)
	for _, v := range y {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
	}
	return os.WriteFile(out, raw, 0o644)
}

func run(e onnx.Evaluator, y, x []float64, rows, columns, threads int) error {
	const block = 512
	next := make(chan int, rows/block+1)
	for from := 0; from < rows; from += block {
		next <- from
	}
	close(next)
	errs := make([]error, threads)
	var all sync.WaitGroup
	for t := range threads {
		all.Go(func() {
			for from := range next {
				to := min(from+block, rows)
				if err := e.Run([][]float64{y[from:to]}, [][]float64{x[from*columns : to*columns]}, to-from); err != nil {
					errs[t] = err
				}
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

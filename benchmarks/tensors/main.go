// Command tensors runs a network of pictures or sequences by adapters/onnx, some rows at a
// time, in both precisions, and prints a line for each: the precision, the CPU seconds of the best
// of the passes, and the largest difference to the numbers of a peer.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"log"
	"math"
	"os"

	"golang.org/x/sys/unix"

	"github.com/pho-go/pho/adapters/onnx"
)

func main() {
	block := flag.Int("rows", 8, "rows at a time")
	passes := flag.Int("passes", 2, "passes over the rows, the best of which counts")
	flag.Parse()
	file, err := os.Open(flag.Arg(0))
	check(err)
	g, err := onnx.Load(file, nil)
	check(err)
	x, want := numbers(flag.Arg(1)), numbers(flag.Arg(2))
	width, out := g.Inputs()[0].Width(), g.Outputs()[0]
	rows, to := len(x)/width, out.Width()
	for name, p := range map[string]onnx.Precision{"float64": onnx.Double, "float32": onnx.Single} {
		e, err := onnx.GoEngine{Precision: p}.Prepare(g, []string{out.Name})
		check(err)
		got, best := make([]float64, rows*to), math.Inf(1)
		for range *passes {
			start := cpu()
			for at := 0; at < rows; at += *block {
				end := min(at+*block, rows)
				check(e.Run([][]float64{got[at*to : end*to]}, [][]float64{x[at*width : end*width]}, end-at))
			}
			best = min(best, cpu()-start)
		}
		most := 0.0
		for i, y := range got {
			most = max(most, math.Abs(y-want[i]))
		}
		fmt.Printf("%s %.4f %.2g\n", name, best, most)
	}
}

// numbers reads a file of float32, the least significant byte first.
func numbers(file string) []float64 {
	b, err := os.ReadFile(file)
	check(err)
	x := make([]float64, len(b)/4)
	for i := range x {
		x[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
	}
	return x
}

func cpu() float64 {
	var u unix.Rusage
	check(unix.Getrusage(unix.RUSAGE_SELF, &u))
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pho-go/pho/data/files"
)

// scenario is one way of calling pho decompose.
type scenario struct {
	name, network string
	arguments     []string
	text          bool // rows of CSV, and the other program writes CSV, too
}

// terms is a formula of ten penalised splines.
func terms() string {
	var s []string
	for j := range inputs {
		s = append(s, fmt.Sprintf(`s(x%d, bs="ps", k=20)`, j))
	}
	return "~ " + strings.Join(s, " + ")
}

func scenarios() []scenario {
	splines, parquet := []string{"--formula", terms()}, []string{"--contributions", "parquet"}
	return []scenario{
		{"decompose, MLP 10-200-200-1, ten ps k=20", "mlp.onnx", slices.Concat(splines, parquet), false},
		{"decompose, MLP 10-400-400-1, ten ps k=20", "wide.onnx", slices.Concat(splines, parquet), false},
		{"decompose, SSN 10 linear + MLP, its own terms", "ssn.onnx", parquet, false},
		{"decompose, SSN 10 linear + MLP, and ten ps k=20", "ssn.onnx", slices.Concat(splines, parquet), false},
		{"decompose, MLP 10-200-200-1, ten ps k=20, likelihood of a response", "mlp.onnx",
			slices.Concat(splines, parquet, []string{"--response", "y", "--family", "gaussian"}), false},
		{"decompose, MLP 10-200-200-1, ten ps k=20, CSV out", "mlp.onnx", splines, false},
		{"decompose, MLP 10-200-200-1, ten ps k=20, CSV in and out", "mlp.onnx", splines, true},
	}
}

// compare takes turns: the whole command, and a process that only reads the rows
// and runs the network, or of CSV also writes as many numbers as the command does. Seconds are wall clock, the median over the rounds.
func compare(pho, dir, only string, workers, rounds int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Println("case\tours\tpeer\tratio\tanswer difference")
	for _, c := range scenarios() {
		if only != "" && !strings.Contains(c.name, only) {
			continue
		}
		rows := filepath.Join(dir, "rows.parquet")
		if c.text {
			rows = filepath.Join(dir, "rows.csv")
		}
		network, result := filepath.Join(dir, c.network), filepath.Join(dir, "result")
		ours := append([]string{"decompose", "--model", network, "--data", rows, "--input", binding, "--out", result, "--workers", strconv.Itoa(workers)}, c.arguments...)
		peer := []string{"-forward", network, "-data", rows, "-workers", strconv.Itoa(workers)}
		if c.text {
			peer = append(peer, "-copy", filepath.Join(dir, "copied.csv"))
		}
		var a, b, ratios []float64
		for range rounds {
			x, err := seconds(pho, ours...)
			if err != nil {
				return err
			}
			y, err := seconds(self, peer...)
			if err != nil {
				return err
			}
			a, b, ratios = append(a, x), append(b, y), append(ratios, x/y)
		}
		miss, err := difference(network, rows, result, workers)
		if err != nil {
			return err
		}
		fmt.Printf("%s\t%.2f s\t%.2f s\t%.2f\t%.1e\n", c.name, median(a), median(b), median(ratios), miss)
	}
	return nil
}

func seconds(command string, arguments ...string) (float64, error) {
	cmd := exec.Command(command, arguments...)
	started := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", command, err, out)
	}
	return time.Since(started).Seconds(), nil
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}

// difference is the largest distance, over the rows, between the sum of the
// contributions that were written and the network run alone, relative to the
// largest output.
func difference(network, rows, result string, workers int) (float64, error) {
	path := filepath.Join(result, "contributions.parquet")
	if _, err := os.Stat(path); err != nil {
		path = filepath.Join(result, "contributions.csv")
	}
	src, err := files.Open([]string{path}, nil)
	if err != nil {
		return 0, err
	}
	defer src.Close()
	var parts []string
	for _, name := range src.Schema().Names() {
		if name != "eta" {
			parts = append(parts, name)
		}
	}
	var sums []float64
	for b, err := range src.Batches(context.Background(), parts) {
		if err != nil {
			return 0, err
		}
		at := len(sums)
		sums = append(sums, make([]float64, b.Rows())...)
		for _, name := range parts {
			x, err := b.Numeric(name)
			if err != nil {
				return 0, err
			}
			for i, v := range x {
				sums[at+i] += v
			}
		}
	}
	eta := make([]float64, len(sums))
	if _, err := forward(network, rows, workers, eta); err != nil {
		return 0, err
	}
	var miss, largest float64
	for i, v := range eta {
		miss, largest = math.Max(miss, math.Abs(sums[i]-v)), math.Max(largest, math.Abs(v))
	}
	return miss / largest, nil
}

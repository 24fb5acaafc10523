package main

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/stat"
)

const torch = "torch"

// difference is of mean test errors over splits, relative to PyTorch's mean error.
type difference struct {
	ours, peer float64 // means
	share      float64 // (ours - peer)/peer
	se         float64 // standard error of share, over the splits' differences
	splits     int
}

// compare pairs the splits of both arms; the errors of a split's seeds are averaged.
func compare(runs map[string]*run, set, kind, arm, other string, first, last int) (d difference) {
	mean := func(arm string, number int) float64 {
		sum, n := 0.0, 0
		for seed := 0; ; seed++ {
			r := runs[(&run{Set: set, Split: number, Kind: kind, Seed: seed, Arm: arm}).key()]
			if r == nil {
				return sum / float64(n) // NaN without runs
			}
			sum, n = sum+r.RMSE, n+1
		}
	}
	var gap []float64
	for number := first; number <= last; number++ {
		a, b := mean(arm, number), mean(other, number)
		if math.IsNaN(a) || math.IsNaN(b) {
			continue
		}
		gap = append(gap, a-b)
		d.ours, d.peer = d.ours+a, d.peer+b
	}
	d.splits = len(gap)
	n := float64(d.splits)
	d.ours, d.peer = d.ours/n, d.peer/n
	d.share = (d.ours - d.peer) / d.peer
	d.se = stat.StdDev(gap, nil) / math.Sqrt(n) / d.peer
	return d
}

// print writes a Markdown table for each kind of network, then rows for
// benchmarks/table: the first arm's differences.
func print(w io.Writer, dir string, which, arms []string, first, last int) error {
	runs, err := readRuns(filepath.Join(dir, "ours.jsonl"))
	if err != nil {
		return err
	}
	peers, err := readRuns(filepath.Join(dir, "torch.jsonl"))
	if err != nil {
		return err
	}
	for key, r := range peers {
		runs[key] = r
	}
	var rows []string
	for _, kind := range which {
		name := strings.ToUpper(kind)
		fmt.Fprintf(w, "\n| %s | PyTorch | %s |\n|---|---:|%s\n", name, strings.Join(arms, " | "), strings.Repeat("---:|", len(arms)))
		total, squares := make([]float64, len(arms)), make([]float64, len(arms))
		count := 0.0
		for _, s := range sets() {
			var cells []string
			peer := math.NaN()
			for i, arm := range arms {
				d := compare(runs, s.name, kind, arm, torch, first, last)
				if d.splits == 0 {
					continue
				}
				peer, total[i], squares[i] = d.peer, total[i]+d.share, squares[i]+d.se*d.se
				cells = append(cells, fmt.Sprintf("%+.2f ± %.2f", 100*d.share, 100*d.se))
				if i == 0 {
					rows = append(rows, fmt.Sprintf("row\t%s, %s: difference of test RMSE in standard errors\t%.4g\t%.4g\t%+.2f (%+.2f %%)\t-", name, s.name, d.ours, d.peer, d.share/d.se, 100*d.share))
				}
			}
			if len(cells) > 0 {
				count++
				fmt.Fprintf(w, "| %s | %.4g | %s |\n", s.name, peer, strings.Join(cells, " | "))
			}
		}
		if count == 0 {
			continue
		}
		var cells []string
		for i, t := range total {
			cells = append(cells, fmt.Sprintf("%+.2f ± %.2f", 100*t/count, 100*math.Sqrt(squares[i])/count))
		}
		fmt.Fprintf(w, "| mean | | %s |\n", strings.Join(cells, " | "))
		rows = append(rows, fmt.Sprintf("row\t%s, mean of %.0f sets: difference of test RMSE in percent\t-\t-\t%+.2f\t-", name, count, 100*total[0]/count))
	}
	_, err = fmt.Fprintf(w, "\n%s\n", strings.Join(rows, "\n"))
	return err
}

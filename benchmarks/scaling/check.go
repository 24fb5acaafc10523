package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/pho-go/pho/data/parquet"
)

// check runs a decomposition of 200 spline columns over rows by the commands themselves, with one and two
// shards, and prints the processor time of the longest chain of processes next to what the
// simulation says: the time on as many idle cores. Processor time, since others may use this machine.
func check(ctx context.Context, w io.Writer, m *Measured, program string, rows int) error {
	dir, err := os.MkdirTemp("", "scaling")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r := &runner{ctx: ctx, program: program, dir: dir}
	if _, err := r.seconds("demo", "--out=demo"); err != nil {
		return err
	}
	if err := draw(filepath.Join(dir, "rows.parquet"), rows); err != nil {
		return err
	}
	start, err := r.seconds("--version")
	if err != nil {
		return err
	}
	c, err := m.costs(splines, 200)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "| processes | measured: processor time of the longest chain | scan | fit | explain | simulated | ratio |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|")
	for _, workers := range []int{1, 2} {
		chain, passes, err := r.decompose(workers)
		if err != nil {
			return err
		}
		cl := &Cluster{Workers: workers, Start: start, Bandwidth: 2e9, FanIn: 1 << 20}
		out := simulateShards(float64(rows), c, cl, workers, rand.New(rand.NewPCG(1, 1)))
		fmt.Fprintf(w, "| %d | %.2f s | %.2f | %.2f | %.2f | %.2f s | %.2f |\n", workers, chain, passes["scan"], passes["fit"], passes["explain"], out.Seconds, chain/out.Seconds)
	}
	return nil
}

// runner runs the program in a directory.
type runner struct {
	ctx     context.Context
	program string
	dir     string
	out     string
}

// seconds runs a command and returns its processor time.
func (r *runner) seconds(args ...string) (float64, error) {
	cmd := exec.CommandContext(r.ctx, r.program, args...)
	cmd.Dir, cmd.Env = r.dir, append(os.Environ(), "GOMAXPROCS=1")
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("pho %s: %w: %s", args[0], err, said.String())
	}
	r.out = string(out)
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), nil
}

// decompose makes all passes with so many shards. What shards take counts by the longest.
func (r *runner) decompose(shards int) (chain float64, passes map[string]float64, err error) {
	var terms []string
	for j := range 10 {
		terms = append(terms, fmt.Sprintf(`s(x%d, bs="ps", k=20)`, j))
	}
	dir := func(name string) string { return fmt.Sprintf("%s-%d", name, shards) }
	planned := "--plan=" + dir("plan")
	if _, err := r.seconds("plan", "--model=demo/ssn.onnx", "--data=rows.parquet", "--formula=~ "+strings.Join(terms, " + "), "--input=x=x0..x9",
		"--interactions=none", fmt.Sprintf("--shards=%d", shards), "--out="+dir("plan")); err != nil {
		return 0, nil, err
	}
	passes = map[string]float64{}
	for {
		if _, err := r.seconds("plan", planned, "--json"); err != nil {
			return 0, nil, err
		}
		var at struct {
			Next *struct {
				Pass string `json:"pass"`
			} `json:"next"`
		}
		if err := json.Unmarshal([]byte(r.out), &at); err != nil {
			return 0, nil, err
		}
		if at.Next == nil {
			break
		}
		pass := at.Next.Pass
		var longest float64
		var parts []string
		for i := range shards {
			part := fmt.Sprintf("%s-%d.pho", dir(pass), i)
			s, err := r.seconds("accumulate", planned, "--pass="+pass, "--workers=1", fmt.Sprintf("--shard=%d", i), "--out="+part)
			if err != nil {
				return 0, nil, err
			}
			longest, parts = max(longest, s), append(parts, part)
		}
		merged, err := r.seconds(append([]string{"merge", "--out=" + dir("total-"+pass)}, parts...)...)
		if err != nil {
			return 0, nil, err
		}
		take := []string{"solve", planned, "--out=" + dir("result"), "--" + map[string]string{"fit": "statistics"}[pass] + "=" + dir("total-"+pass)}
		switch pass {
		case "scan":
			take = []string{"plan", planned, "--scan=" + dir("total-"+pass)}
		case "explain", "pairs":
			take[3] = "--" + pass + "=" + dir("total-"+pass)
		}
		taken, err := r.seconds(take...)
		if err != nil {
			return 0, nil, err
		}
		passes[pass] += longest
		chain += longest + merged + taken
	}
	return chain, passes, nil
}

// draw writes rows with ten columns.
func draw(path string, rows int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := parquet.NewWriter(f, strings.Fields("x0 x1 x2 x3 x4 x5 x6 x7 x8 x9"))
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(1, 2))
	columns := make([][]float64, 10)
	for at := 0; at < rows; at += 1 << 16 {
		for j := range columns {
			columns[j] = make([]float64, min(1<<16, rows-at))
			for i := range columns[j] {
				columns[j][i] = math.Round(1e4*random.NormFloat64()) / 1e4
			}
		}
		if err := w.Write(columns); err != nil {
			return err
		}
	}
	return w.Close()
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pho-go/pho/examples/paper/internal/experiment"
)

// TestRun: a tiny run of both arms writes its results, and a second one that finds
// the journal of some tasks writes the same.
func TestRun(t *testing.T) {
	dir := experiment.NeedData(t, 1)
	s := scope{folds: 2, narrow: true, epochs: 3, ours: effort{inner: 2, members: 2, epochs: 2}}
	for _, b := range benchmarkSets() {
		if b.name == "yacht" {
			s.sets = []set{b}
		}
	}
	results := func(out string) map[string]string {
		e := &experiment.Experiment{Name: "benchmark", Seed: 1, Out: out, Data: dir}
		if err := s.run(context.Background(), e, "a", 0); err != nil {
			t.Fatal(err)
		}
		files, err := os.ReadDir(out)
		if err != nil {
			t.Fatal(err)
		}
		text := map[string]string{}
		for _, f := range files {
			b, err := os.ReadFile(filepath.Join(out, f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			text[f.Name()] = string(b)
		}
		return text
	}
	first := results(t.TempDir())
	for _, name := range []string{"benchmark_folds.csv", "benchmark_published.md", "benchmark_ours.md", "benchmark_interpretable.md", "benchmark_importance.csv", "benchmark.svg"} {
		if first[name] == "" || strings.Contains(first[name], "NaN") {
			t.Errorf("%s: %q", name, first[name])
		}
	}
	if len(first) != 6 {
		t.Errorf("%d files", len(first))
	}
	out := t.TempDir()
	// As a first sitting that ended after no time and one that was killed after a task.
	e := &experiment.Experiment{Name: "benchmark", Seed: 1, Out: out, Data: dir}
	if err := s.run(context.Background(), e, "a", time.Nanosecond); err == nil || !strings.Contains(err.Error(), "10 of 10 tasks are left: start it again") {
		t.Fatalf("error %v", err)
	}
	journalFile := filepath.Join(out, unfinished)
	text, err := os.ReadFile(journalFile)
	if err != nil {
		t.Fatal(err)
	}
	var head line
	if err := json.Unmarshal(bytes.SplitN(text, []byte("\n"), 2)[0], &head); err != nil || head.Origin == nil || head.Origin.Commit != "a" {
		t.Fatalf("the journal begins with %s (%v)", text, err)
	}
	j, err := openJournal(journalFile, *head.Origin, sitting{Started: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	r, fold, err := s.sets[0].read(context.Background(), filepath.Join(dir, "paper_folds", "yacht.csv"))
	if err != nil {
		t.Fatal(err)
	}
	train, test := r.split(fold, 1)
	m, err := published(context.Background(), "PHO", hidden("c"), train, test, s.epochs, 1001)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.add(task{publishedArm, "yacht", 1, "c", "PHO"}, m, 0); err != nil {
		t.Fatal(err)
	}
	for name, text := range results(out) {
		if text != first[name] {
			t.Errorf("%s differs after an interruption", name)
		}
	}
}

// TestTestRowsDecideNothing: other responses in the test fold change no choice of
// ours and no prediction.
func TestTestRowsDecideNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	r := rows{names: []string{"V1", "V2"}, x: make([][]float64, 2)}
	for range 150 {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		r.x[0], r.x[1] = append(r.x[0], a), append(r.x[1], b)
		r.y = append(r.y, math.Sin(2*a)+a*b+0.1*rng.NormFloat64())
	}
	fold := make([]int, r.n())
	for i := range fold {
		fold[i] = i % 5
	}
	train, test := r.split(fold, 0)
	fit := func() map[string]float64 {
		m, err := ours(context.Background(), train, test, effort{inner: 2, members: 1, epochs: 2}, 1)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]float64{}
		for _, v := range m {
			out[v.name] = v.value
		}
		return out
	}
	first := fit()
	for i := range test.y {
		test.y[i] = 1e3
	}
	for name, v := range fit() {
		if !strings.HasPrefix(name, "rmse") && v != first[name] {
			t.Errorf("%s is %g, and %g with other test responses", name, first[name], v)
		}
	}
	if first["ev_structured with pairs"] < first["ev_structured"]-0.01 {
		t.Errorf("pairs explain less: %v", first)
	}
}

// TestStackWeights: the weights are a point of the simplex, no vertex and no mixture
// of two is better, and the truth among the columns gets weight 1.
func TestStackWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, n := rapid.IntRange(1, 4).Draw(t, "columns"), 30
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		y, p := make([]float64, n), make([][]float64, m)
		for i := range y {
			y[i] = rng.NormFloat64()
		}
		for a := range p {
			for i := range y {
				p[a] = append(p[a], y[i]+float64(a+1)*rng.NormFloat64())
			}
		}
		w := stackWeights(y, p)
		loss := func(w []float64) float64 {
			fit := make([]float64, n)
			for a := range p {
				for i := range fit {
					fit[i] += w[a] * p[a][i]
				}
			}
			return rmse(y, fit)
		}
		sum := 0.0
		for _, v := range w {
			sum += v
			if v < 0 {
				t.Fatalf("weights %v", w)
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Fatalf("weights sum to %g", sum)
		}
		for a := range p {
			for b := range p {
				for _, share := range []float64{0, 0.3, 0.7} {
					other := make([]float64, m)
					other[a] += 1 - share
					other[b] += share
					if loss(other) < loss(w)-1e-12 {
						t.Fatalf("weights %v have loss %g, %v %g", w, loss(w), other, loss(other))
					}
				}
			}
		}
	})
	y := []float64{1, 2, 3, 5}
	if w := stackWeights(y, [][]float64{{1, 2, 2, 2}, y, y}); w[1]+w[2] < 1-1e-9 {
		t.Errorf("weights %v, want the truth's", w)
	}
}

// TestSimplest: the first column keeps all weight unless another is clearly better.
func TestSimplest(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var y, good, same, better []float64
	for range 200 {
		v := rng.NormFloat64()
		y, good, same, better = append(y, v), append(good, v+0.5*rng.NormFloat64()), append(same, v+0.5*rng.NormFloat64()), append(better, v+0.1*rng.NormFloat64())
	}
	if w := simplest(y, [][]float64{good, better}, []float64{0.1, 0.9}); w[1] != 0.9 {
		t.Errorf("weights %v where the second is better", w)
	}
	if w := simplest(y, [][]float64{good, same}, []float64{0, 1}); w[0] != 1 {
		t.Errorf("weights %v where the second is as good", w)
	}
}

// TestEncoder: the coded columns of a feature add up to a straight line within each
// interval, and go on beyond the training rows.
func TestEncoder(t *testing.T) {
	train := rows{names: []string{"a"}, x: [][]float64{{0, 0, 1, 2, 2, 8}}, y: make([]float64, 6)}
	e := newEncoder(train, 5)
	if got, want := fmt.Sprint(e.edges), "[[0 1 2 8]]"; got != want {
		t.Fatalf("edges %s, want %s", got, want)
	}
	tab, err := rows{names: []string{"a"}, x: [][]float64{{-1, 0.5, 1.5, 5, 14}}, y: make([]float64, 5)}.table(e, nil, e)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a/5.1": "[-1 0.5 1 1 1]", "a/5.2": "[0 0 0.5 1 1]", "a/5.3": "[0 0 0 0.5 2]"}
	if len(e.columns()) != len(want) {
		t.Errorf("columns %q", e.columns())
	}
	for b, err := range tab.Batches(context.Background(), e.columns()) {
		if err != nil {
			t.Fatal(err)
		}
		for name, w := range want {
			v, err := b.Numeric(name)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(v); got != w {
				t.Errorf("%s: %s, want %s", name, got, w)
			}
		}
	}
}

// TestJournal: a task of which the end is missing is done again, and what else comes
// is written behind whole lines; sittings add up.
func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.jsonl")
	open := func(from origin) (*journal, error) {
		return openJournal(path, from, sitting{Started: time.Now().Add(-time.Minute), Machine: "m", Workers: 2})
	}
	from := origin{Commit: "a", Go: "go1", Settings: "seed 1"}
	j, err := open(from)
	if err != nil {
		t.Fatal(err)
	}
	one, two := task{"ours", "yacht", 1, "", "blend"}, task{"published", "yacht", 1, "c", "PHO"}
	add := func(k task) {
		t.Helper()
		if err := j.add(k, []measure{{"rmse", 1.0 / 3}, {"weight rich gam", math.NaN()}}, 2); err != nil {
			t.Fatal(err)
		}
	}
	add(one)
	add(two)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	last := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
	for _, end := range []int{len(text) - 1, len(text) - 4, last + 1, last} {
		if err := os.WriteFile(path, text[:end], 0o666); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time behind what the first has written
			if j, err = open(from); err != nil {
				t.Fatal(err)
			}
			if j.value(one, "rmse") != 1.0/3 || !math.IsNaN(j.value(one, "weight rich gam")) || j.of(one)[2] != (measure{"seconds", 2}) {
				t.Errorf("journal has %v", j.done)
			}
			if j.of(two) == nil {
				add(two)
			}
		}
		if n := len(j.sittings); n != 3 || j.sittings[0].Tasks != 1 || j.sittings[1].Tasks != 1 || j.sittings[0].Seconds < 59 || j.sittings[2].Seconds != 0 {
			t.Errorf("sittings %+v", j.sittings)
		}
	}
	for _, other := range []origin{{Commit: "b", Go: "go1", Settings: "seed 1"}, {Commit: "a", Go: "go2", Settings: "seed 1"}, {Commit: "a", Go: "go1", Settings: "seed 2"}} {
		if _, err := open(other); err == nil || !strings.Contains(err.Error(), "finish it with a program of its own commit") {
			t.Errorf("%+v: error %v", other, err)
		}
	}
	for _, bad := range []string{"ours,yacht,1,,blend,rmse,x\n", "{}\n", `{"task":"x"}` + "\n"} {
		if err := os.WriteFile(path, []byte(bad), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := open(from); err == nil || !strings.Contains(err.Error(), "remove the file to begin anew") {
			t.Errorf("%s: error %v", bad, err)
		}
	}
}

// TestFullNeedsCommit: a test's program does not know its commit, so the whole
// benchmark is refused before anything is done.
func TestFullNeedsCommit(t *testing.T) {
	e := &experiment.Experiment{Name: "benchmark", Out: t.TempDir()}
	if err := run(context.Background(), e, 0); err == nil || !strings.Contains(err.Error(), "only a clean commit is measured in full") {
		t.Errorf("error %v", err)
	}
}

var updateDocs = flag.Bool("update-docs", false, "write the results into README.md of examples/paper")

// TestPage: README.md of examples/paper shows what the results' files hold.
func TestPage(t *testing.T) {
	const path = "../README.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := page(string(text), os.DirFS("../results"))
	if err != nil {
		t.Fatal(err)
	}
	if want == string(text) {
		return
	}
	if !*updateDocs {
		t.Fatal("examples/paper/README.md has other figures than examples/paper/results: go test -C examples/paper ./benchmark -run Page -update-docs")
	}
	if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestOrigins: the time is the sittings' and the tasks', as the file has it.
func TestOrigins(t *testing.T) {
	const provenance = `{"commit": "0123456789ab", "go": "go1", "platform": "linux/amd64", "seconds": 7201,
		"settings": {"task_seconds": 13361, "sittings": [
			{"started": "2026-01-02T03:04:05.6Z", "machine": "a machine", "workers": 2, "tasks": 100, "seconds": 7111},
			{"started": "2026-01-03T03:04:05Z", "machine": "a machine", "workers": 2, "tasks": 3, "seconds": 90}]}}`
	const want = `The run is of commit 0123456789ab (go1, linux/amd64). It took 13361 s (3.7 hours), summed over its tasks, and 7201 s (2.0 hours) by the clock:

| sitting (UTC) | processor | workers | tasks | by the clock |
|---|---|---:|---:|---:|
| 2026-01-02 03:04 | a machine | 2 | 100 | 7111 s (119 minutes) |
| 2026-01-03 03:04 | a machine | 2 | 3 | 90 s |
`
	if got, err := origins([]byte(provenance)); got != want || err != nil {
		t.Errorf("got\n%s(%v)", got, err)
	}
}

// TestRace: who is more than a tenth worse than the best is out.
func TestRace(t *testing.T) {
	list := []candidate{{name: "a"}, {name: "b"}, {name: "c"}}
	kept, p := race(list, [][]float64{{1}, {2}, {3}}, []float64{1.2, 1, 1.05})
	if len(kept) != 2 || kept[0].name != "b" || kept[1].name != "c" || fmt.Sprint(p) != "[[2] [3]]" {
		t.Errorf("kept %v with %v", kept, p)
	}
}

package command

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pho-go/pho/drift"
)

// monitoredRows writes days of rows for the network nam_deep_op13, a file for each; x1 moves from the
// day with number moves on.
func monitoredRows(t *testing.T, dir string, days, moves int) (paths []string) {
	t.Helper()
	for day := range days {
		r := rand.New(rand.NewPCG(uint64(day), 5))
		text := "when,x0,x1,x2,x3,y,w\n"
		for i := range 120 {
			x1 := r.NormFloat64()
			if day >= moves {
				x1 += 1.5
			}
			text += fmt.Sprintf("2026-01-%02d %02d:30,%g,%g,%g,%g,%g,%g\n", 1+day, i/5, r.NormFloat64(), x1, r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), 0.5+r.Float64())
		}
		path := filepath.Join(dir, fmt.Sprintf("day%d.csv", day))
		write(t, path, text)
		paths = append(paths, path)
	}
	return paths
}

// Additions to one state at the same time, from new on, lose no rows.
func TestMonitorAtTheSameTime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	paths := monitoredRows(t, dir, 6, 4)
	result, state, other := filepath.Join(dir, "result"), filepath.Join(dir, "drift.json"), filepath.Join(dir, "other.json")
	done(t, "decompose", "--model", golden("nam_deep_op13"), "--input", "x=x0..x3", "--data", paths[0], "--response", "y", "--out", result)
	done(t, "monitor", result, "--data", paths[0], "--time", "when", "--state", other)
	var all sync.WaitGroup
	add := func(args ...string) {
		if o := call(t, append([]string{"monitor", "--state", state}, args...)...); o.status != exitDone {
			t.Errorf("%v: status %d\n%s", args, o.status, o.err)
		}
	}
	for _, path := range paths[1:] {
		all.Go(func() { add(result, "--data", path, "--time", "when") })
	}
	all.Go(func() { add("--merge", other) })
	all.Wait()
	kept, err := readState(state)
	if err != nil || len(kept.Sources()) != len(paths) {
		t.Errorf("%v: of %d files the state has %v", err, len(paths), kept.Sources())
	}
}

func driftReport(t *testing.T, args ...string) *drift.Report {
	t.Helper()
	var r drift.Report
	if err := json.Unmarshal([]byte(done(t, append(args, "--json")...).out), &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

// A network is followed over six days, of which the last two are other ones: the table, the page
// and JSON agree with the contributions of the rows; states of single days, in any order, merge to
// the bytes of one of all.
func TestMonitor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	paths := monitoredRows(t, dir, 6, 4)
	result, state := filepath.Join(dir, "result"), filepath.Join(dir, "drift.json")
	done(t, "decompose", "--model", golden("nam_deep_op13"), "--input", "x=x0..x3", "--data", paths[0], "--response", "y", "--out", result)
	done(t, "monitor", result, "--data", paths[0], "--time", "when", "--by", "hour", "--weights", "w", "--state", state)
	o := done(t, append([]string{"monitor", result, "--state", state, "--roll-up", "day", "--out", filepath.Join(dir, "page"), "--data"}, paths[1:]...)...)
	for _, want := range []string{"against 2026-01-01", "2026-01-06", "f(x1)", `periods by day of column "when" (UTC), weights "w"`} {
		if !strings.Contains(o.out, want) {
			t.Errorf("no %q in\n%s", want, o.out)
		}
	}
	page := read(t, dir, "page", monitorPage)
	for _, want := range []string{"f(x1)", `class="drifted"`, "2 of 5 periods differ", "2026-01-06: "} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q on the page", want)
		}
	}
	c := driftReport(t, "compare", state, "--periods", "2026-01-02..2026-01-06").Changes[0]
	agreesWithRows(t, c, result, paths[1], paths[5])
	for _, p := range c.Predictors[0].Parts {
		if p.Mean.Drift != (p.Name == "f(x1)") {
			t.Errorf("%s: %+v", p.Name, p.Mean)
		}
	}
	if r := driftReport(t, "monitor", "--state", state, "--roll-up", "day"); len(r.Changes) != 5 || r.Changes[0].Drift() || !r.Changes[4].Drift() {
		t.Errorf("%+v", r)
	}
	t.Run("any order", func(t *testing.T) {
		var states []string
		for i, path := range paths {
			own := filepath.Join(dir, fmt.Sprintf("own%d.json", i))
			done(t, "monitor", result, "--data", path, "--time", "when", "--by", "hour", "--weights", "w", "--state", own)
			states = append([]string{own}, states...)
		}
		merged := filepath.Join(dir, "merged.json")
		for _, own := range states {
			done(t, "monitor", "--state", merged, "--merge", own)
		}
		if read(t, merged) != read(t, state) {
			t.Error("merged they are other bytes")
		}
		if c := driftReport(t, "compare", states[4], states[0], "--periods", "2026-01-02..2026-01-06").Changes[0]; *c.Predictors[0].Mean.Change == 0 {
			t.Error("two states show no change")
		}
	})
	t.Run("standard input", func(t *testing.T) {
		own := filepath.Join(dir, "stream.json")
		in := strings.NewReader(read(t, paths[3]))
		if o := callWith(t, context.Background(), in, "monitor", result, "--data", "-", "--time", "when", "--by", "hour", "--weights", "w", "--state", own); o.status != exitDone {
			t.Fatal(o.err)
		}
		if o := call(t, "monitor", "--state", own, "--merge", state); o.status != exitFailed || !strings.Contains(o.err, "would count twice") {
			t.Errorf("the same rows twice: %s", o.err)
		}
	})
	t.Run("response", func(t *testing.T) {
		own := filepath.Join(dir, "response.json")
		done(t, "monitor", result, "--data", paths[0], "--data", paths[5], "--time", "when", "--weights", "w", "--response", "y", "--state", own, "--out", filepath.Join(dir, "fit"))
		c := driftReport(t, "compare", own).Changes[0]
		eta := *c.Predictors[0].Mean.Change
		var y [2]float64
		for i, path := range []string{paths[0], paths[5]} {
			var weights float64
			header, cells := table(t, path)
			for _, row := range cells {
				w := number(t, row[len(header)-1])
				y[i], weights = y[i]+w*number(t, row[len(header)-2]), weights+w
			}
			y[i] /= weights
		}
		if want := y[1] - y[0] - eta; math.Abs(*c.Fit.Error.Change-want) > 1e-12 || *c.Fit.Loss.Period <= 0 {
			t.Errorf("%+v, want an error of %g", c.Fit, want)
		}
		if !strings.Contains(read(t, dir, "fit", monitorPage), "mean of response less prediction") {
			t.Error("the response is not on the page")
		}
	})
	t.Run("refused", func(t *testing.T) { refusedByMonitor(t, dir, result, state, paths) })
}

// agreesWithRows compares a change with what the contributions of two files say, weighted.
func agreesWithRows(t *testing.T, c *drift.Change, result, a, b string) {
	t.Helper()
	means := func(rows string) map[string]float64 {
		out := filepath.Join(t.TempDir(), "rows.csv")
		done(t, "apply", "--decomposition", result, "--data", rows, "--out", out)
		header, cells := table(t, out)
		data, own := table(t, rows)
		sums, weights := map[string]float64{}, 0.0
		for i, row := range cells {
			w := number(t, own[i][len(data)-1])
			weights += w
			for j, name := range header {
				sums[name] += w * number(t, row[j])
			}
		}
		for name := range sums {
			sums[name] /= weights
		}
		return sums
	}
	x, y := means(a), means(b)
	var mean, variance float64
	p := &c.Predictors[0]
	for _, part := range p.Parts {
		if want := y[part.Name] - x[part.Name]; math.Abs(*part.Mean.Change-want) > 1e-12 {
			t.Errorf("%s changed by %g, by the rows %g", part.Name, *part.Mean.Change, want)
		}
		mean, variance = mean+*part.Mean.Change, variance+*part.Share.Change
	}
	// A network of float32 rounds the sum of its parts.
	if math.Abs(mean-*p.Mean.Change) > 1e-6 || math.Abs(variance-*p.Variance.Change) > 1e-6 || *p.Mean.Change == 0 {
		t.Errorf("the parts' changes add to %g and %g, those of the prediction are %g and %g", mean, variance, *p.Mean.Change, *p.Variance.Change)
	}
}

// What is wrong is said, and the state stays as it was.
func refusedByMonitor(t *testing.T, dir, result, state string, paths []string) {
	before := read(t, state)
	bad := func(name, line string) string {
		path := filepath.Join(dir, name)
		write(t, path, "when,x0,x1,x2,x3,y,w\n2026-02-01,1,2,3,4,0,1\n"+line+"\n")
		return path
	}
	other := filepath.Join(dir, "other")
	done(t, "decompose", "--model", golden("nam_deep_op13"), "--input", "x=x0..x3", "--data", paths[4], "--out", other)
	damaged := filepath.Join(dir, "damaged.json")
	write(t, damaged, strings.Replace(before, "2026-01-02T03", "2026-01-02T04", 1))
	for _, c := range []struct {
		want string
		args []string
	}{
		{"--state is missing", []string{"monitor", result, "--data", paths[0]}},
		{"DIR is missing", []string{"monitor", "--data", paths[0], "--state", state}},
		{"--data is missing", []string{"monitor", result, "--state", state}},
		{"there is no state", []string{"monitor", "--state", filepath.Join(dir, "none.json")}},
		{"are there already, and would count twice", []string{"monitor", result, "--data", bad("ok.csv", ""), "--data", paths[3], "--state", state}},
		{"different decompositions", []string{"monitor", other, "--data", bad("a.csv", ""), "--state", state}},
		{"in different ways", []string{"monitor", result, "--data", bad("b.csv", ""), "--by", "day", "--state", state}},
		{"in different ways", []string{"monitor", result, "--data", bad("b.csv", ""), "--block", "5", "--state", state}},
		{`data row 1: column "when"`, []string{"monitor", result, "--data", bad("c.csv", "soon,1,2,3,4,0,1"), "--state", state}},
		{"divide milliseconds", []string{"monitor", result, "--data", bad("d.csv", "1769903999000,1,2,3,4,0,1"), "--state", state}},
		{`"when"`, []string{"monitor", result, "--data", bad("e.csv", ",1,2,3,4,0,1"), "--state", state}},
		{"x9", []string{"monitor", result, "--data", bad("f.csv", ""), "--time", "x9", "--state", filepath.Join(dir, "new.json")}},
		{"weight is -1", []string{"monitor", result, "--data", bad("g.csv", "2026-02-01,1,2,3,4,0,-1"), "--state", state}},
		{"knows no family", []string{"monitor", other, "--data", paths[0], "--time", "when", "--response", "y", "--state", filepath.Join(dir, "new.json")}},
		{"--time is missing", []string{"monitor", result, "--data", paths[0], "--state", filepath.Join(dir, "new.json")}},
		{"give one", []string{"monitor", result, "--data", paths[0], "--time", "when", "--period", "a", "--state", state}},
		{"give one", []string{"monitor", result, "--data", paths[0], "--block", "5", "--cluster", "day", "--state", state}},
		{"damaged or was edited", []string{"monitor", "--state", damaged}},
		{"damaged or was edited", []string{"monitor", "--state", state, "--merge", damaged}},
		{"not the state of a monitor", []string{"monitor", "--state", paths[0]}},
		{"lies in the decomposition", []string{"monitor", result, "--data", paths[0], "--time", "when", "--state", filepath.Join(result, "new.json")}},
		{"cannot be put together", []string{"monitor", "--state", state, "--roll-up", "label"}},
		{"there is no period", []string{"monitor", "--state", state, "--reference", "2027"}},
		{"there is no period", []string{"compare", state, "--periods", "2026-01-01..2027"}},
		{"--periods is missing", []string{"compare", state}},
		{"goes with decompositions", []string{"compare", state, "--data", paths[0]}},
		{"--periods goes with states", []string{"compare", result, other, "--periods", "a..b"}},
		{"holds the state", []string{"monitor", "--state", state, "--out", dir}},
	} {
		o := call(t, c.args...)
		if o.status != exitFailed && o.status != exitUsage || !strings.Contains(o.err, c.want) {
			t.Errorf("pho %q: status %d, want %q in %q", c.args, o.status, c.want, o.err)
		}
	}
	if read(t, state) != before {
		t.Error("the state is another one")
	}
	if _, err := os.Stat(filepath.Join(dir, "new.json")); err == nil {
		t.Error("a state was left behind")
	}
}

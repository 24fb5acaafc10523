package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/pho-go/pho/examples/paper/internal/experiment"
)

// write turns the journal into tables and a figure.
func (s scope) write(e *experiment.Experiment, j *journal) error {
	if err := e.WriteCSV("benchmark_folds.csv", s.foldTable(j)); err != nil {
		return err
	}
	e.Set("task_seconds", math.Round(s.seconds(j)))
	e.Set("sittings", j.sittings)
	clock := 0.0
	for _, v := range j.sittings {
		clock += v.Seconds
	}
	e.Took(j.sittings[0].Started, clock)
	published, err := s.publishedTable(j)
	if err != nil {
		return err
	}
	if err := e.WriteMarkdown("benchmark_published.md", published); err != nil {
		return err
	}
	table, err := s.oursTable(j)
	if err != nil {
		return err
	}
	if err := e.WriteMarkdown("benchmark_ours.md", table); err != nil {
		return err
	}
	if err := e.WriteMarkdown("benchmark_interpretable.md", s.interpretableTable(j)); err != nil {
		return err
	}
	if err := e.WriteCSV("benchmark_importance.csv", s.importanceTable(j)); err != nil {
		return err
	}
	figure, err := s.figure(j)
	if err != nil {
		return err
	}
	return e.WriteFigure("benchmark.svg", figure)
}

// errors are a measure of a task on all folds; NaN where it is missing, because the
// run was interrupted or the model has no such measure.
func (s scope) errors(j *journal, t task, name string) []float64 {
	var v []float64
	for k := 1; k <= s.folds; k++ {
		t.fold = k
		v = append(v, j.value(t, name))
	}
	return v
}

// foldTable has all measures but those of importance, which are averaged elsewhere.
func (s scope) foldTable(j *journal) *experiment.Table {
	t := experiment.NewTable("arm", "set", "fold", "architecture", "model", "measure", "value")
	for i := range s.sets {
		for k := 1; k <= s.folds; k++ {
			for _, job := range s.tasks(&s.sets[i], k) {
				for _, m := range j.of(job) {
					if m.name != "seconds" && !isImportance(m.name) {
						t.Add(job.arm, job.set, job.fold, job.arch, job.model, m.name, m.value)
					}
				}
			}
		}
	}
	return t
}

func isImportance(name string) bool {
	return strings.HasPrefix(name, "variance_share ") || strings.HasPrefix(name, "deviance_r2 ")
}

// present leaves out missing values.
func present(v []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(v), math.IsNaN)
}

func (s scope) seconds(j *journal) float64 {
	sum := 0.0
	for i := range s.sets {
		for k := 1; k <= s.folds; k++ {
			for _, t := range s.tasks(&s.sets[i], k) {
				if v := j.value(t, "seconds"); v-v == 0 {
					sum += v
				}
			}
		}
	}
	return sum
}

// best is the architecture of a published row with the lowest mean on the test
// folds: the published table's choice, which flatters the row.
func (s scope) best(j *journal, b *set, method string) (arch string, errors []float64) {
	for _, t := range s.tasks(b, 1) {
		if t.arm != publishedArm || t.model != method {
			continue
		}
		v := s.errors(j, t, "rmse")
		n, most := len(present(v)), len(present(errors))
		if errors == nil || n > most || n == most && meanOf(v) < meanOf(errors) {
			arch, errors = t.arch, v
		}
	}
	return arch, errors
}

// publishedTable sets our run of the published settings next to the authors'.
func (s scope) publishedTable(j *journal) (*experiment.Table, error) {
	header := []string{"set", "folds"}
	for _, m := range methods {
		header = append(header, m+" authors", m+" ours")
	}
	t := experiment.NewTable(append(header, "PHO interpretable", "on test rows")...)
	for i := range s.sets {
		b := &s.sets[i]
		if b.archs == "" {
			continue
		}
		row, folds := []any{b.name, s.folds}, s.folds
		var arch string
		for m, method := range methods {
			a, v := s.best(j, b, method)
			if n := len(present(v)); n > 0 {
				folds = min(folds, n)
			}
			cell := spread(v)
			if arch = a; a != "" && cell != "-" {
				cell += " " + a
			}
			row = append(row, b.authors[m], cell)
		}
		row[1] = folds
		pho := task{arm: publishedArm, set: b.name, arch: arch, model: "PHO"}
		if len(present(s.errors(j, pho, "rmse"))) == 0 {
			continue
		}
		t.Add(append(row, percent(meanOf(s.errors(j, pho, "ev_structured"))), percent(meanOf(s.errors(j, pho, "ev_test"))))...)
	}
	return t, nil
}

// spread is the mean with the standard deviation.
func spread(v []float64) string {
	if v = present(v); len(v) == 0 {
		return "-"
	}
	mean, sd := stat.MeanStdDev(v, nil)
	return fmt.Sprintf("%s (%s)", short(mean), short(sd))
}

// short has three digits, and all those before the point; "-" for no value.
func short(x float64) string {
	if x-x != 0 {
		return "-"
	}
	if math.Abs(x) >= 1000 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

func percent(x float64) string {
	if x-x != 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*x)
}

// oursTable compares our arm with the goals and, fold by fold, with the best peer: a
// set is reached if we are not worse by more than a standard error of the difference.
func (s scope) oursTable(j *journal) (*experiment.Table, error) {
	t := experiment.NewTable("set", "folds", "authors' PHO", "REML GAM", "best trees", "goal", "ours", "goal missed by", "peer", "ours - peer", "reached", "weights", "ssn alone", "mlp alone")
	for i := range s.sets {
		b := &s.sets[i]
		blend := task{arm: oursArm, set: b.name, model: "blend"}
		v, gam := s.errors(j, blend, "rmse"), s.errors(j, blend, "rmse gam")
		if len(present(v)) == 0 {
			continue
		}
		name, trees, err := bestPeer(b.name, s.folds)
		if err != nil {
			return nil, err
		}
		cell, peer := "", trees
		if name != "" {
			cell = short(meanOf(trees))
		}
		if name == "" || meanOf(gam) < meanOf(trees) {
			name, peer = "REML GAM", gam
		}
		mean, se := experiment.Mean(present(v))
		paired, pairedSE := experiment.Mean(present(differences(v, peer)))
		reached := "yes"
		if paired > pairedSE {
			reached = "no"
		}
		missed := "-"
		if mean > b.goal {
			missed = fmt.Sprintf("%s (SE %s)", short(mean-b.goal), short(se))
		}
		t.Add(b.name, len(present(v)), b.authors[3], short(meanOf(gam)), cell, b.goal, spread(v), missed, name, fmt.Sprintf("%s (SE %s)", short(paired), short(pairedSE)), reached, s.weights(j, blend), s.alone(j, blend, "ssn"), s.alone(j, blend, "mlp"))
	}
	return t, nil
}

func differences(a, b []float64) []float64 {
	d := make([]float64, len(a))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return d
}

// weights are the mean weights of the candidates; one that lost has none.
func (s scope) weights(j *journal, t task) string {
	var text []string
	for _, c := range []string{"gam", "rich gam", "ssn", "mlp"} {
		sum := 0.0
		for _, w := range present(s.errors(j, t, "weight "+c)) {
			sum += w
		}
		if mean := sum / float64(len(present(s.errors(j, t, "rmse")))); mean >= 0.005 {
			text = append(text, fmt.Sprintf("%s %.2f", c, mean))
		}
	}
	return strings.Join(text, ", ")
}

// alone is the mean error of a candidate; "-" if it was not fitted in every fold, for
// the others would be another set of folds.
func (s scope) alone(j *journal, t task, candidate string) string {
	v := present(s.errors(j, t, "rmse "+candidate))
	if len(v) < len(present(s.errors(j, t, "rmse"))) {
		return "-"
	}
	return fmt.Sprintf("%.3f", meanOf(v))
}

// interpretableTable tells how much of our predictors is a sum of functions of one
// feature, and of one and two.
func (s scope) interpretableTable(j *journal) *experiment.Table {
	t := experiment.NewTable("set", "RMSE", "single features", "on test rows", "and pairs", "on test rows", "most important")
	for i := range s.sets {
		blend := task{arm: oursArm, set: s.sets[i].name, model: "blend"}
		if len(present(s.errors(j, blend, "rmse"))) == 0 {
			continue
		}
		mean := func(name string) (single, pairs string) {
			one, two, any := s.errors(j, blend, name), s.errors(j, blend, name+" with pairs"), false
			for k := range two {
				if two[k]-two[k] != 0 { // single features left nothing to explain
					two[k] = one[k]
				} else {
					any = true
				}
			}
			if !any {
				return percent(meanOf(one)), "-"
			}
			return percent(meanOf(one)), percent(meanOf(two))
		}
		train, trainPairs := mean("ev_structured")
		test, testPairs := mean("ev_test")
		t.Add(blend.set, short(meanOf(s.errors(j, blend, "rmse"))), train, test, trainPairs, testPairs, s.top(j, blend))
	}
	return t
}

// top names the three features with the largest shares of the variance.
func (s scope) top(j *journal, t task) string {
	type share struct {
		name  string
		value float64
	}
	var all []share
	for t.fold = 1; t.fold < s.folds && j.of(t) == nil; t.fold++ {
	}
	for _, m := range j.of(t) {
		if name, ok := strings.CutPrefix(m.name, "variance_share "); ok {
			all = append(all, share{name, meanOf(s.errors(j, t, m.name))})
		}
	}
	slices.SortStableFunc(all, func(a, b share) int {
		if a.value > b.value {
			return -1
		}
		return 1
	})
	var text []string
	for _, f := range all[:min(3, len(all))] {
		text = append(text, f.name+" "+percent(f.value))
	}
	return strings.Join(text, ", ")
}

// importanceTable has the features' mean figures over the folds.
func (s scope) importanceTable(j *journal) *experiment.Table {
	t := experiment.NewTable("set", "feature", "variance_share", "deviance_r2")
	for i := range s.sets {
		blend := task{arm: oursArm, set: s.sets[i].name, model: "blend"}
		for _, column := range s.sets[i].keep {
			name := fmt.Sprintf("V%d", column)
			t.Add(blend.set, name, meanOf(s.errors(j, blend, "variance_share "+name)), meanOf(s.errors(j, blend, "deviance_r2 "+name)))
		}
	}
	return t
}

// figure shows the folds' errors of both arms and the peers.
func (s scope) figure(j *journal) (*experiment.Figure, error) {
	f := &experiment.Figure{
		Title: "Prediction on the authors' ten folds", Columns: 4, Width: 350, Height: 300,
		Note: []string{"RMSE of each test fold. As published: the architecture that is best on the test folds. GAM*: REML, k <= 9. Trees: the best of four ensembles. Dashed: the authors' PHO."},
	}
	for i := range s.sets {
		b := &s.sets[i]
		_, trees, err := bestPeer(b.name, s.folds)
		if err != nil {
			return nil, err
		}
		blend := task{arm: oursArm, set: b.name, model: "blend"}
		p := experiment.Panel{Title: b.name, X: "model", Y: "RMSE", Levels: []experiment.Level{{Name: "authors' PHO", Y: b.authors[3]}}}
		var published, peers, ours [][]float64
		add := func(name string, to *[][]float64, v []float64) {
			p.Categories = append(p.Categories, name)
			for _, series := range []*[][]float64{&published, &peers, &ours} {
				if series == to {
					*series = append(*series, v)
				} else {
					*series = append(*series, nil)
				}
			}
		}
		for _, m := range methods {
			if b.archs != "" {
				_, v := s.best(j, b, m)
				add(m, &published, v)
			}
		}
		add("GAM*", &peers, s.errors(j, blend, "rmse gam"))
		if trees != nil {
			add("trees", &peers, trees)
		}
		add("ours", &ours, s.errors(j, blend, "rmse"))
		if all := present(slices.Concat(slices.Concat(published...), slices.Concat(peers...), slices.Concat(ours...))); len(all) > 0 {
			p.LogY = slices.Max(all) > 4*slices.Min(all)
		}
		p.Boxes = []experiment.Boxes{{Name: "as published", Values: published}, {Name: "peers", Values: peers}, {Name: "ours", Values: ours}}
		f.Panels = append(f.Panels, p)
	}
	return f, nil
}

package command

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/pho-go/pho/drift"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/report"
)

// The files of a report's directory.
const (
	monitorPage = "monitor.html"
	monitorJSON = "monitor.json"
)

// showDrift writes a report: to a directory, if one is named, and on the terminal.
func showDrift(s streams, r *drift.Report, out string, asJSON bool, in sources) error {
	doc, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	doc = append(doc, '\n')
	if out != "" {
		if err := writePageDir(s, out, in, monitorJSON, doc, monitorPage, func(f *os.File) error { return report.WriteDrift(f, r) }); err != nil {
			return err
		}
	}
	if asJSON {
		_, err := s.out.Write(doc)
		return err
	}
	if len(r.Periods) == 2 && len(r.Changes) == 1 {
		printChange(s.out, r.Changes[0])
	} else {
		printDrift(s.out, r)
	}
	fmt.Fprintf(s.out, "%s\n", shown(r.Counted))
	return nil
}

// figure is a number for a table, - for none.
func figure(v *float64, format string) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf(format, *v)
}

// printChange prints what changed between two periods.
func printChange(w io.Writer, c *drift.Change) {
	fmt.Fprintf(w, "%s against %s: %d rows against %d\n", shown(c.Period), shown(c.Reference), c.Rows[1], c.Rows[0])
	for i := range c.Predictors {
		p := &c.Predictors[i]
		for _, of := range []struct {
			name string
			of   drift.Figure
		}{{"mean", p.Mean}, {"variance", p.Variance}} {
			fmt.Fprintf(w, "%s: %s %s, was %s (%s, standard error %s)%s\n", shown(p.Name), of.name, figure(of.of.Period, "%.4g"), figure(of.of.Reference, "%.4g"),
				figure(of.of.Change, "%+.4g"), figure(of.of.SE, "%.2g"), map[bool]string{true: ": drift"}[of.of.Drift])
		}
		rows := [][]string{{"part", "mean changed", "in se", "p (Holm)", "drift", "variance changed", "in se", "p (Holm)", "drift"}}
		for _, t := range p.Parts {
			row := []string{wiring.Shorten(shown(t.Name), summaryName)}
			for _, f := range []drift.Figure{t.Mean, t.Share} {
				row = append(row, figure(f.Change, "%+.3g"), figure(f.Ratio, "%.1f"), figure(f.Adjusted, "%.2g"), map[bool]string{true: "yes", false: "no"}[f.Drift])
			}
			rows = append(rows, row)
		}
		writeTable(w, rows, 1)
	}
	if c.Fit != nil {
		printFit(w, "error", &c.Fit.Error)
		printFit(w, "deviance", &c.Fit.Loss)
	}
	printFeatures(w, c)
	for _, n := range c.Notes {
		fmt.Fprintf(w, "note: %s\n", bounded(n))
	}
}

// printFit prints how well the response is predicted.
func printFit(w io.Writer, name string, f *drift.Figure) {
	fmt.Fprintf(w, "response: mean %s %s, was %s (%s, standard error %s)%s\n", name, figure(f.Period, "%.4g"), figure(f.Reference, "%.4g"),
		figure(f.Change, "%+.4g"), figure(f.SE, "%.2g"), map[bool]string{true: ": drift"}[f.Drift])
}

// printFeatures prints how far the columns moved.
func printFeatures(w io.Writer, c *drift.Change) {
	if len(c.Features) == 0 {
		return
	}
	rows := [][]string{{"column", "PSI", "by chance up to"}}
	for _, f := range c.Features {
		rows = append(rows, []string{wiring.Shorten(shown(f.Feature), summaryName), figure(f.PSI, "%.3f"), figure(f.Critical, "%.3f")})
	}
	writeTable(w, rows, 1)
}

// printDrift prints all periods, a line each.
func printDrift(w io.Writer, r *drift.Report) {
	fmt.Fprintf(w, "against %s, with what drifted marked *\n", shown(r.Reference))
	of := map[string]*drift.Change{}
	for _, c := range r.Changes {
		of[c.Period] = c
	}
	for k, predictor := range r.Of.Predictors {
		rows := [][]string{{"period", "rows", "mean", "change", "variance", "change"}}
		if r.With.Fit != nil && k == 0 {
			rows[0] = append(rows[0], "error", "deviance")
		}
		rows[0] = append(rows[0], "through (change of the mean)")
		periods := r.Periods
		if !slices.ContainsFunc(periods, func(p *drift.Period) bool { return p.Name == r.Reference }) {
			periods = append([]*drift.Period{r.With}, periods...) // of several together
		}
		for _, p := range periods {
			m := p.Predictors[k]
			last := len(m.Mean) - 1
			row := []string{wiring.Shorten(shown(p.Name), 24), fmt.Sprint(p.Rows), fmt.Sprintf("%.4g", m.Mean[last]), "", fmt.Sprintf("%.4g", m.Share[last]), ""}
			c, by := of[p.Name], ""
			if c != nil {
				own := &c.Predictors[k]
				row[3], row[5], by = starred(&own.Mean), starred(&own.Variance), through(own)
			}
			if p.Fit != nil && k == 0 {
				row = append(row, fitCells(p.Fit, c)...)
			}
			row = append(row, by)
			rows = append(rows, row)
		}
		if len(r.Of.Predictors) > 1 {
			fmt.Fprintf(w, "%s:\n", shown(predictor.Name))
		}
		writeTable(w, rows, 1)
	}
}

// fitCells are the mean error and deviance of a period, marked where they drifted.
func fitCells(f *drift.Fit, c *drift.Change) []string {
	cells := []string{fmt.Sprintf("%.3g", f.Error), fmt.Sprintf("%.3g", f.Loss)}
	if c != nil && c.Fit != nil {
		for i, of := range []*drift.Figure{&c.Fit.Error, &c.Fit.Loss} {
			cells[i] += map[bool]string{true: "*"}[of.Drift]
		}
	}
	return cells
}

func starred(f *drift.Figure) string {
	return figure(f.Change, "%+.3g") + map[bool]string{true: "*"}[f.Drift]
}

// through names the parts whose means drifted, largest first, three at most.
func through(p *drift.PredictorChange) string {
	var names []string
	parts := p.Drifted()
	for i, t := range parts {
		if i == 3 {
			names = append(names, fmt.Sprintf("%d more", len(parts)-i))
			break
		}
		names = append(names, fmt.Sprintf("%s %+.3g", wiring.Shorten(shown(t.Name), 24), *t.Mean.Change))
	}
	return strings.Join(names, ", ")
}

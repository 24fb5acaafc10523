package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/report"
)

// explainFlags are the flags of pho explain.
type explainFlags struct {
	rows      []int64
	model     string
	maxMemory string
	computing computing
	predictor string
	json      bool
	full      bool
	labels    string
	inputs    []string // arrays
	data      dataFlags
}

// mostRows is how many rows are explained that nobody named.
const mostRows = 10

func newExplain(s streams) *cobra.Command {
	var e explainFlags
	cmd := &cobra.Command{
		Use:   "explain DIR --row N | --data FILE",
		Short: "Say how the network's prediction of a row is made up",
		Long: `Say how the network's prediction of a row is made up: the intercept, every term's part, what
no term holds, and their sum, which is the network's own output, and what that is on the
scale of the response. Rows are counted from 1, as everywhere.

--row alone reads the contributions that lie in DIR, and the values of those rows that are
stored with the report. With --data the decomposition is applied to rows of that file, which
needs the network; values and standard errors of all of them are shown then.`,
		Example: `  pho explain result --row 17
  pho explain result --data new.csv --row 1,2
  pho explain result --data new.csv --json`,
		Args: cobra.MinimumNArgs(0),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("DIR is missing")
			}
			return e.run(cmd.Context(), s, args[0], args[1:])
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.Int64SliceVar(&e.rows, "row", nil, "`N`, the number of a data row, counted from 1 (repeatable, or with commas)")
	e.data.add(f)
	addArrays(f, &e.inputs)
	f.StringVar(&e.predictor, "predictor", "", "`NAME` of the one predictor or class to explain (default: all, of many classes the most probable)")
	f.BoolVar(&e.full, "full", false, "all terms, however many they are")
	f.BoolVar(&e.json, "json", false, "print JSON, all predictors and terms")
	addLabels(f, &e.labels, ", in place of the decomposition's own; JSON keeps names")
	f.StringVar(&e.model, "model", "", "the network's `FILE`, or the folder of several, if it is not where it was")
	e.computing.add(f, again)
	f.StringVar(&e.maxMemory, "max-memory", "4GiB", "bound on a network's tensors")
	return cmd
}

func (e *explainFlags) run(ctx context.Context, s streams, dir string, further []string) error {
	if err := e.check(further); err != nil {
		return err
	}
	read := resultdir.ReadBands
	if !e.applies() {
		read = resultdir.ReadDocument // contributions that are stored have their standard errors
	}
	r, err := labelledBy(e.labels, dir, read)
	if err != nil {
		return err
	}
	if err := e.knownPredictor(r); err != nil {
		return err
	}
	var rows []explained
	rest := int64(0)
	if e.applies() {
		rows, rest, err = e.apply(ctx, s, r, dir, further)
	} else {
		rows, err = storedRows(ctx, r, dir, e.rows)
	}
	if err != nil {
		return err
	}
	if e.json {
		return writeExplainedJSON(s.data, r, rows)
	}
	w := newWaterfall(s.out, r, e.full, r.Labels.Predictor(e.predictor))
	rows = labelledExplained(r, rows)
	for i := range rows {
		if i > 0 {
			fmt.Fprintln(s.out)
		}
		w.write(&rows[i])
	}
	if slices.ContainsFunc(rows, explained.lacksValues) {
		fmt.Fprintln(s.out, "\nvalues of rows that are not stored with the report: --data FILE, the rows' file, shows them")
	}
	if rest > 0 {
		fmt.Fprintf(s.out, "\nand %d rows more; --row N names one\n", rest)
	}
	return nil
}

// applies reports whether rows of files are explained, and not those of the decomposition.
func (e *explainFlags) applies() bool { return len(e.data.paths)+len(e.inputs) > 0 }

func (e *explainFlags) check(further []string) error {
	if !e.applies() {
		switch {
		case len(further) > 0:
			return usagef("unexpected argument %q; rows of a file are named by --data", further[0])
		case len(e.rows) == 0:
			return usagef("--row is missing: name the number of a row, or a file of rows by --data")
		}
	}
	for _, row := range e.rows {
		if row < 1 {
			return usagef("--row %d: rows are counted from 1", row)
		}
	}
	return e.computing.check()
}

// knownPredictor refuses a predictor that r does not have.
func (e *explainFlags) knownPredictor(r *decompose.Result) error {
	var names []string
	for i := range r.Predictors {
		if r.Predictors[i].Name == e.predictor {
			return nil
		}
		names = append(names, r.Predictors[i].Name)
	}
	if e.predictor == "" {
		return nil
	}
	return usagef("--predictor %q: the decomposition has %s", e.predictor, quotedNames(names))
}

// explained is a row and what makes up its predictors.
type explained struct {
	row        int64  // counted from 1
	id         string // "": it has no name
	predictors []explainedPredictor
	offset     *float64 // nil: not known, or there is none
	response   []report.ResponseValue
}

// lacksValues tells whether values of the columns of the row's terms are not known.
func (x explained) lacksValues() bool {
	for _, p := range x.predictors {
		for _, t := range p.parts {
			if len(t.values) > 0 {
				return false
			}
		}
	}
	return true
}

// explainedPredictor is a predictor of a row.
type explainedPredictor struct {
	name                 string
	intercept, left, eta float64
	parts                []part
}

// part is what a term, or a sum of which only that is identified, adds.
type part struct {
	names  []string // of the terms
	values []value  // of their features
	add    float64
	se     float64 // NaN: not known
}

// value is a feature's.
type value struct{ name, text string }

// writeExplainedJSON writes the rows, terms in the order of the decomposition.
func writeExplainedJSON(w io.Writer, r *decompose.Result, rows []explained) error {
	out := []report.ExplainedRow{}
	for _, row := range rows {
		j := report.ExplainedRow{Row: row.row, ID: row.id, Response: row.response}
		for _, p := range row.predictors {
			pj := report.ExplainedPredictor{Name: p.name, Intercept: p.intercept, Terms: []report.ExplainedTerm{}, Unstructured: p.left, Eta: p.eta}
			for _, t := range p.parts {
				tj := report.ExplainedTerm{Terms: t.names, Contribution: t.add}
				if se := t.se; se == se {
					tj.SE = &se
				}
				for _, v := range t.values {
					if tj.Values == nil {
						tj.Values = map[string]string{}
					}
					tj.Values[v.name] = v.text
				}
				pj.Terms = append(pj.Terms, tj)
			}
			j.Predictors = append(j.Predictors, pj)
		}
		out = append(out, j)
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(map[string]any{"rows": out})
}

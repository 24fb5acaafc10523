package compare

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// Curve is a term's function after the projection, on the grid of effects.csv, on the link
// scale, centred over the rows of its decomposition.
type Curve struct {
	Predictor, Term string
	X, X2           []string  // grid values as text; X2 is nil for one feature
	Value           []float64 // by X, and for two features by X2 within
	SE              []float64 // NaN: none
}

// ReadCurves reads effects.csv: its rows of stage "after" and, where it has members, of
// their mean. Columns are found by name. A value that is empty (where there are no rows) is
// NaN.
func ReadCurves(from io.Reader) ([]Curve, error) {
	rows := csv.NewReader(from)
	rows.ReuseRecord = true
	header, err := rows.Read()
	if err != nil {
		return nil, fmt.Errorf("compare: effects: no header: %w", err)
	}
	at := map[string]int{}
	for j, name := range header {
		at[name] = j
	}
	for _, name := range []string{"predictor", "term", "stage", "x", "x2", "value", "se"} {
		if _, ok := at[name]; !ok {
			return nil, fmt.Errorf("compare: effects: there is no column %q", name)
		}
	}
	member, members := at["member"]
	var all []*points
	for {
		record, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("compare: effects: %w", err)
		}
		if record[at["stage"]] != "after" || members && record[member] != "" {
			continue
		}
		value, err := number(record[at["value"]])
		var se float64
		if err == nil {
			se, err = number(record[at["se"]])
		}
		if err != nil {
			line, _ := rows.FieldPos(0)
			return nil, fmt.Errorf("compare: effects: line %d: %w", line, err)
		}
		predictor, term := record[at["predictor"]], record[at["term"]]
		i := slices.IndexFunc(all, func(p *points) bool { return p.Predictor == predictor && p.Term == term })
		if i < 0 {
			i = len(all)
			all = append(all, &points{Curve: Curve{Predictor: predictor, Term: term}})
		}
		all[i].add(record[at["x"]], record[at["x2"]], value, se)
	}
	var out []Curve
	for _, p := range all {
		c, err := p.grid()
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func number(text string) (float64, error) {
	if text == "" {
		return math.NaN(), nil
	}
	return strconv.ParseFloat(text, 64)
}

// points are a curve's rows as they come.
type points struct {
	Curve
	x, x2 []string // of each point
}

func (p *points) add(x, x2 string, value, se float64) {
	p.x, p.x2 = append(p.x, x), append(p.x2, x2)
	p.Value, p.SE = append(p.Value, value), append(p.SE, se)
}

// grid checks that the points are a full grid, the first feature slowest.
func (p *points) grid() (Curve, error) {
	c := p.Curve
	inner := 1
	if slices.ContainsFunc(p.x2, func(s string) bool { return s != "" }) {
		for inner < len(p.x) && p.x[inner] == p.x[0] {
			inner++
		}
		c.X2 = p.x2[:inner]
	}
	for i := 0; i < len(p.x); i += inner {
		c.X = append(c.X, p.x[i])
	}
	for i := range p.x {
		if len(p.x)%inner != 0 || p.x[i] != c.X[i/inner] || c.X2 != nil && p.x2[i] != c.X2[i%inner] {
			return c, fmt.Errorf("compare: effects: the points of term %q of predictor %q are no grid", c.Term, c.Predictor)
		}
	}
	return c, nil
}

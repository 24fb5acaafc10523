package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/decompose"
)

// ranked is what the rows identify of a predictor: a term, or the sum of terms of which they
// identify only the sum.
type ranked struct {
	name    string // of the terms
	columns string // that it is of, in words
	terms   []*decompose.TermResult
	sd      float64 // over the rows, of the scale of the link
	about   bool    // the sd is estimated
	curve   *candidate
	finding *finding // nil: there is no curve, or it says nothing
	weak    bool     // the rows hardly tell it
}

// ranking is what the rows identify of d, largest first. Sums whose size a file of an earlier
// version does not know leave their terms.
func (draw *drawing) ranking(d *decompose.Predictor, candidates []*candidate) (out []ranked) {
	add := func(terms []*decompose.TermResult, sd float64, curve *candidate) {
		r := ranked{terms: terms, sd: sd, curve: curve, about: curve != nil && curve.estimated, weak: draw.weak(d, terms)}
		var names, columns []string
		for _, t := range terms {
			names = append(names, t.Name)
			for _, f := range t.Features {
				if f = clip(f, 40); !slices.Contains(columns, f) {
					columns = append(columns, f)
				}
			}
		}
		r.name = strings.Join(names, " + ")
		if r.columns = list(columns, 4); len(columns) == 2 {
			r.columns = columns[0] + " and " + columns[1]
		}
		if curve != nil && curve.effect.Note == "" {
			r.columns = curve.effect.columns()
			r.finding = draw.newFinding(curve.effect)
		} else if len(columns) == 2 && len(terms) == 1 {
			r.columns = columns[0] + " and " + columns[1] + " together"
		}
		out = append(out, r)
	}
	summed := map[string]bool{}
	for _, e := range d.Entangled {
		curve := curveOf(candidates, e.Terms)
		_, after := momentsOf(d, e.Terms)
		if after == nil && curve == nil {
			continue
		}
		var sd float64
		if after != nil {
			sd = math.Sqrt(after.Variance)
		} else {
			sd = curve.after
		}
		var terms []*decompose.TermResult
		for j := range d.Terms {
			if t := &d.Terms[j]; slices.Contains(e.Terms, t.Name) && !summed[t.Name] {
				terms, summed[t.Name] = append(terms, t), true
			}
		}
		if len(terms) > 0 {
			add(terms, sd, curve)
		}
	}
	for j := range d.Terms {
		if t := &d.Terms[j]; !summed[t.Name] {
			i := slices.IndexFunc(candidates, func(c *candidate) bool { return c.effect.Sum == nil && c.effect.Term == t.Name })
			var curve *candidate
			if i >= 0 {
				curve = candidates[i]
			}
			add([]*decompose.TermResult{t}, math.Sqrt(t.After.Variance), curve)
		}
	}
	slices.SortStableFunc(out, func(a, b ranked) int { return cmp.Compare(b.sd, a.sd) })
	return out
}

// columns are those of an effect, in words.
func (e *Effect) columns() string {
	s := clip(e.X.Feature, 40)
	if e.X2 != nil {
		s += " and " + clip(e.X2.Feature, 40) + " together"
	}
	if e.Held != "" {
		s += " where " + clip(e.Held, 40)
	}
	return s
}

// rankRow is a row of the table of the ranking.
type rankRow struct {
	Term, Columns, Name string // the terms, for the script and for people
	To                  string // id of the figure; "": there is none
	Curve               string // a small picture: a path, in 100 x 24
	Bars                bool   // it is of levels
	W, SD               string
	Why                 string // there is no curve
}

// rankRows is the table, of the first ones.
func (p *predictor) rankRows(ranking []ranked) (out []rankRow, more string) {
	if len(ranking) > overviewTerms {
		more = fmt.Sprintf("Listed are the %d of %d that move most.", overviewTerms, len(ranking))
		ranking = ranking[:overviewTerms]
	}
	most := 0.0
	for _, r := range ranking {
		if !notFinite(r.sd) {
			most = math.Max(most, r.sd)
		}
	}
	x := axis{span{0, most}.drawable(), 0, barWidth}
	if most > 0 {
		x.span = span{0, most}
	}
	for _, r := range ranking {
		row := rankRow{Term: clean(r.name), Columns: r.columns, Name: clip(r.name, 60), SD: num(r.sd), To: p.figureOf(r.name)}
		if r.about {
			row.SD = "≈ " + row.SD
		}
		if !notFinite(r.sd) {
			row.W = px(x.at(r.sd))
		}
		switch e := r.curve; {
		case e == nil:
			row.Why = "only the sum of these is known"
		case e.effect.Note == "" && e.effect.X2 == nil:
			row.Curve, row.Bars = spark(e.effect), e.effect.X.Levels != nil
		}
		out = append(out, row)
	}
	return out, more
}

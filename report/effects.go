package report

import (
	"bufio"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/taskpool"
)

// Effect is one term's centred contribution on a grid of its features, on the
// link scale.
type Effect struct {
	Predictor string
	Term      string
	// Sum names the terms if this is the sum of several, all of one feature, that are not
	// identified themselves while their sum is; Term is then "x1 + s(x1)". nil for a single
	// term.
	Sum []string
	// X is the grid of the first feature, X2 that of the second; X2 is nil for a
	// term of one feature.
	X  *Axis
	X2 *Axis
	// Held says at which value a by variable is held, e.g. "z = 1"; else "".
	Held string
	// Before is the network's own curve, After includes what was moved. Values
	// are in order of X, and for two features X varies slowest.
	// NaN: the combination of levels did not occur, or no row is near.
	Before, After []float64
	// SE is the standard error of After for the given network (decompose.Result.Bands says
	// of which kind). NaN where there is none.
	SE []float64
	// Networks are the curves of several networks, called Names, of which Before and After
	// are the means; nil: there is one.
	Networks *decompose.NetworkEffects
	Names    []string
	// Sim are half widths of a band round After that holds all of the grid with probability
	// 0.95 (decompose.Effect.Simultaneous). NaN where there is none; nil: not known.
	Sim []float64
	// Width is the half width of the pointwise 95 % band in standard errors; 0: 1.96.
	Width float64
	// Note says why there is no grid; X, X2, Before, After, SE and Sim are nil then. "": there is one.
	Note string
}

// Axis is the grid of one feature: levels if Levels is not nil, else numbers.
type Axis struct {
	Feature  string
	Values   []float64
	Levels   []string
	Unit     string    // of Values, for people (Title, Text); "": none is known
	places   []float64 // of levels that have names, of a column of numbers: the numbers
	declared bool      // the levels are in an order that the data declare
	numeric  bool      // levels that have names are numbers in the data, in whose order they are
	whole    bool      // Values are all the whole numbers between the first and the last, and nothing lies between
}

// Len is the number of grid points.
func (a *Axis) Len() int { return max(len(a.Values), len(a.Levels)) }

// text is point i as written to CSV.
func (a *Axis) text(i int) string {
	if a.Levels != nil {
		return a.Levels[i]
	}
	return strconv.FormatFloat(a.Values[i], 'g', -1, 64)
}

// Effects evaluates every term of r on a grid; a is r's applier. The grid is 101 points of a
// numeric feature, and every whole number of one of few, every level of a factor, 41 x 41 points for two features. Points follow
// the training rows: half of them are quantiles of the rows, the others make the longest
// steps between these as short as can be, so that no stretch is left out; they are equally
// spaced over the range where quantiles are not known (results of earlier versions, or
// before the last pass). Curves by a level of a factor end with its rows. Points of two
// features that are farther from every row than a tenth of their ranges have no value. A
// numeric by variable is held at 1, a factor by at the term's level. Slopes of several columns
// (ridge) have each column as a level, whose effect is the slope, without a band of all. Terms of
// three or more features, and terms that cannot be evaluated on a grid, have a Note and no
// values. A predictor's terms are followed by the sums of those that are identified only
// together (see Effect.Sum). As many goroutines make them as a takes. The only error is that
// of ctx.
func Effects(ctx context.Context, r *decompose.Result, a *decompose.Applier) ([]Effect, error) {
	g := newGrids(r, a)
	var of []termsOf
	for k := range r.Predictors {
		d := &r.Predictors[k]
		for j := range d.Terms {
			of = append(of, termsOf{k, []int{j}})
		}
		for _, terms := range sums(d) {
			of = append(of, termsOf{k, terms})
		}
	}
	out, faults := make([]Effect, len(of)), make([]error, len(of))
	pool := taskpool.New(a.Workers())
	defer pool.Close()
	pool.Each(len(of), func(i int) { out[i], faults[i] = g.named(ctx, of[i]) })
	for _, err := range faults {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// termsOf are terms of a predictor whose sum is one effect.
type termsOf struct {
	predictor int
	terms     []int
}

// named is an effect with its names, or with a note of why there is none.
func (g *grids) named(ctx context.Context, of termsOf) (Effect, error) {
	d := &g.result.Predictors[of.predictor]
	names := make([]string, len(of.terms))
	for i, j := range of.terms {
		names[i] = d.Terms[j].Name
	}
	name := strings.Join(names, " + ")
	e, err := g.effect(ctx, of.predictor, of.terms)
	if ctx.Err() != nil {
		return e, fmt.Errorf("report: effect of %q: %w", name, ctx.Err())
	}
	if err != nil {
		e = Effect{Note: err.Error()}
	}
	e.Predictor, e.Term = d.Name, name
	if len(names) > 1 {
		e.Sum = names
	}
	return e, nil
}

// entangled lists the sets of terms that are identified together only.
func entangled(d *decompose.Predictor) [][]int {
	at := map[string]int{}
	for j, t := range d.Terms {
		at[t.Name] = j
	}
	var out [][]int
	for _, e := range d.Entangled {
		var set []int
		for _, name := range e.Terms {
			if j, ok := at[name]; ok {
				set = append(set, j)
			}
		}
		out = append(out, set)
	}
	return out
}

// sums are the entangled sets whose terms are all functions of the same one
// feature: their sum is one curve.
func sums(d *decompose.Predictor) [][]int {
	return slices.DeleteFunc(entangled(d), func(set []int) bool {
		if len(set) < 2 {
			return true
		}
		feature := d.Terms[set[0]].Features
		return slices.ContainsFunc(set, func(j int) bool {
			t := &d.Terms[j]
			by, _ := byOf(t)
			return by != "" || len(t.Features) != 1 || t.Features[0] != feature[0]
		})
	})
}

// simultaneousSeed is that of every effect's draws: one term's band depends on no other.
const simultaneousSeed = 1

// effect evaluates the sum of some terms of predictor k; an error says why that
// cannot be done.
func (g *grids) effect(ctx context.Context, k int, terms []int) (Effect, error) {
	d := &g.result.Predictors[k]
	at := terms[0]
	for _, j := range terms { // a factor's levels are the grid of a sum, too
		if _, ok := levelsOf(&d.Terms[j]); ok {
			at = j
		}
	}
	gridOf := &d.Terms[at]
	e, b, err := g.grid(gridOf, d.Means(at))
	if err != nil {
		return Effect{}, err
	}
	var v *decompose.Effect
	if _, ok := gridOf.Term().(sloped); ok { // slopes in units of their own are no curve
		v, err = g.applier.SumEffect(ctx, k, terms, b)
	} else {
		v, err = g.applier.SimultaneousEffect(ctx, k, terms, b, simultaneousSeed)
	}
	if err != nil {
		return Effect{}, err
	}
	for i := range v.After {
		if notFinite(v.Before[i]) || notFinite(v.After[i]) {
			return Effect{}, fmt.Errorf("the curve is not finite at point %d of its grid", i+1)
		}
	}
	e.Before, e.After, e.SE, e.Sim, e.Width = v.Before, v.After, v.SE, v.Simultaneous, widthOf(g.result)
	if e.Networks = v.Networks; e.Networks != nil {
		e.Names = g.result.Networks.Names
	}
	e.widen()
	if len(terms) == 1 {
		err = blank(&e, d, terms[0], b)
	}
	for i, far := range g.far(&e, gridOf) {
		if far {
			e.blank(i)
		}
	}
	return e, err
}

// blank leaves levels, and combinations of them, that did not occur without a value: rows say
// nothing of the term there.
func blank(e *Effect, d *decompose.Predictor, j int, b *data.Batch) error {
	occurred, err := d.Occurred(j, b)
	if err != nil {
		return err
	}
	for i, there := range occurred {
		if !there {
			e.blank(i)
		}
	}
	return nil
}

// blank leaves point i without a value.
func (e *Effect) blank(i int) {
	curves := [][]float64{e.Before, e.After, e.SE}
	if e.Sim != nil {
		curves = append(curves, e.Sim)
	}
	if n := e.Networks; n != nil {
		curves = slices.Concat(curves, n.Before, n.After, [][]float64{n.SDBefore, n.SD})
	}
	for _, v := range curves {
		v[i] = math.NaN()
	}
}

// notFinite tells NaN and infinities.
func notFinite(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// effectColumns are those of effects.csv for one network.
func effectColumns() []string {
	return []string{"predictor", "term", "stage", "x", "x2", "value", "se", "lower", "upper", "lower_sim", "upper_sim"}
}

// WriteEffects writes effects.csv: for every term with a grid, the rows of stage "before"
// and then those of stage "after", and for the sums of terms that are identified only together. x is a level for factors, x2 is empty
// for one feature; value is empty for a combination of levels that did not occur, and where no row is near. se, lower
// and upper (the pointwise 95 % band) and lower_sim and upper_sim (the band that holds all of
// the grid) are empty in stage "before", and where there is no standard error. Numbers have
// all their digits.
//
// For several networks the rows describe their mean, lower and upper include the variation between networks (decompose.Effect.Half),
// and two columns follow: between_sd, the standard deviation of the networks' curves at the point, and member, which is empty. The
// rows of every network come next, with its name as member and no errors.
func WriteEffects(w io.Writer, effects []Effect) error {
	buffer := bufio.NewWriter(w)
	c := csv.NewWriter(buffer)
	several := slices.ContainsFunc(effects, func(e Effect) bool { return e.Networks != nil })
	write := func(record ...string) {
		if several && len(record) == len(effectColumns()) {
			record = append(record, "", "")
		}
		c.Write(record) // the error stays with c
	}
	number := func(v float64) string {
		if math.IsNaN(v) {
			return ""
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	if several {
		write(append(effectColumns(), "between_sd", "member")...)
	} else {
		write(effectColumns()...)
	}
	for i := range effects {
		e := &effects[i]
		if e.Networks != nil {
			e.writeNetworks(write, number)
			continue
		}
		for p, v := range e.Before {
			x, x2 := e.at(p)
			write(e.Predictor, e.Term, "before", x, x2, number(v), "", "", "", "", "")
		}
		for p, v := range e.After {
			x, x2 := e.at(p)
			if notFinite(e.SE[p]) {
				write(e.Predictor, e.Term, "after", x, x2, number(v), "", "", "", "", "")
				continue
			}
			lower, upper := "", ""
			if e.Sim != nil {
				lower, upper = number(v-e.Sim[p]), number(v+e.Sim[p])
			}
			half := e.half(p)
			write(e.Predictor, e.Term, "after", x, x2, number(v), number(e.SE[p]), number(v-half), number(v+half), lower, upper)
		}
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return fmt.Errorf("report: writing effects: %w", err)
	}
	if err := buffer.Flush(); err != nil {
		return fmt.Errorf("report: writing effects: %w", err)
	}
	return nil
}

// at is the position of grid point p.
func (e *Effect) at(p int) (x, x2 string) {
	if e.X2 == nil {
		return e.X.text(p), ""
	}
	return e.X.text(p / e.X2.Len()), e.X2.text(p % e.X2.Len())
}

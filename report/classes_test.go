package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pho-go/pho/decompose"
)

// ofClasses is a result of n classes and a column x, and of a factor g that the first class has not; reference: the last class has
// no predictor.
func ofClasses(n int, reference bool) (*decompose.Result, []Effect) {
	r := &decompose.Result{Response: "y", Features: []decompose.Feature{{Name: "x", Min: 0, Max: 1}, {Name: "g", Levels: []string{"u", "v"}, Counts: []int64{3, 4}}}}
	var names []string
	var effects []Effect
	last := ""
	for k := range n {
		name := fmt.Sprintf("class %d", k)
		if k == n-1 && reference {
			last = name
			break
		}
		p := decompose.Predictor{Name: name, Intercept: float64(k) / 3, Terms: []decompose.TermResult{{Name: "s(x)", Features: []string{"x"}, Identified: true}}}
		add := func(e Effect) {
			e.Predictor, e.Before, e.SE = name, make([]float64, len(e.After)), make([]float64, len(e.After))
			effects = append(effects, e)
		}
		add(Effect{Term: "s(x)", X: &Axis{Feature: "x", Values: []float64{0, 0.5, 1}}, After: []float64{float64(k), -1, float64(k*k) / 10}})
		if k > 0 {
			p.Terms = append(p.Terms, decompose.TermResult{Name: "g", Features: []string{"g"}, Identified: true})
			add(Effect{Term: "g", X: &Axis{Feature: "g", Levels: []string{"u", "v"}}, After: []float64{0.1 * float64(k), -0.2}})
		}
		r.Predictors, names = append(r.Predictors, p), append(names, name)
	}
	r.Sets = []decompose.PredictorSet{{Predictors: names, Uniqueness: decompose.ClassContrast(last)}}
	return r, effects
}

// TestProbabilitiesOfAllClasses: they are the softmax of intercepts and effects, and add up to 1; a class without the term has
// its intercept, one that others are differences to has 0.
func TestProbabilitiesOfAllClasses(t *testing.T) {
	for _, reference := range []bool{false, true} {
		r, effects := ofClasses(4, reference)
		draw := newDrawing(r, 0, effects)
		for _, term := range []string{"s(x)", "g"} {
			e, values := draw.ofAllClasses(term)
			if len(values) != 4 {
				t.Fatalf("%s: %d classes", term, len(values))
			}
			for i := range e.After {
				weights, sum, all := make([]float64, 4), 0.0, 0.0
				for k := range weights {
					weights[k] = 1
					if k < len(r.Predictors) {
						eta := r.Predictors[k].Intercept
						for _, own := range effects {
							if own.Predictor == r.Predictors[k].Name && own.Term == term {
								eta += own.After[i]
							}
						}
						weights[k] = math.Exp(eta)
					}
					sum += weights[k]
				}
				for k, w := range weights {
					if math.Abs(values[k][i]-w/sum) > 1e-14 {
						t.Errorf("reference %v, %s: class %d has %v at point %d, want %v", reference, term, k, values[k][i], i, w/sum)
					}
					all += values[k][i]
				}
				if math.Abs(all-1) > 1e-14 {
					t.Errorf("%s: the probabilities add up to %v", term, all)
				}
			}
		}
	}
}

// TestClassPictures: up to six classes all have a colour and a name; of more those that change most, and one can be picked.
func TestClassPictures(t *testing.T) {
	for _, n := range []int{3, 6, 10, 40} {
		r, effects := ofClasses(n, false)
		all := newClassPictures(r, effects, newChoice(r, effects))
		if len(all) != 1 || len(all[0].Lines) != 2 {
			t.Fatalf("%d classes: %+v", n, all)
		}
		p := all[0]
		colors := 0
		for _, c := range p.Classes {
			if c.Color != "" {
				colors++
			}
		}
		drawn := min(n, mostClasses)
		if colors != min(n, classColors) || p.Picked != (n > classColors) || len(p.Classes) != drawn || strings.Contains(p.Words, "effects.csv") != (n > mostClasses) {
			t.Errorf("%d classes: %d colours, %d drawn, picked %v: %s", n, colors, len(p.Classes), p.Picked, p.Words)
		}
		x, g := p.Lines[slices.IndexFunc(p.Lines, func(l classPicture) bool { return l.Curve != nil })], p.Lines[slices.IndexFunc(p.Lines, func(l classPicture) bool { return l.Dots != nil })]
		if len(x.Curve.Lines) != drawn || len(g.Dots.Levels) != 2 || len(g.Dots.Levels[0].Dots) != drawn {
			t.Errorf("%d classes: %d curves, %+v", n, len(x.Curve.Lines), g.Dots)
		}
	}
	r, effects := ofClasses(3, false)
	effects[len(effects)-2].X = &Axis{Feature: "x", Values: []float64{0, 1, 2}} // s(x) of the last class: another grid
	if all := newClassPictures(r, effects, newChoice(r, effects)); len(all) != 1 || len(all[0].Lines) != 1 || all[0].Lines[0].Term != "g" {
		t.Errorf("curves on other grids: %+v", all)
	}
	r.Sets = nil
	if all := newClassPictures(r, effects, newChoice(r, effects)); len(all) != 0 {
		t.Errorf("predictors of no set: %+v", all)
	}
}

// TestSpread: names keep their order and their distance, and stay in the plot.
func TestSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		was := rapid.SliceOfN(rapid.Float64Range(top, bottom), 1, classColors).Draw(t, "heights")
		now, all := slices.Clone(was), make([]int, len(was))
		for i := range all {
			all[i] = i
		}
		spread(now, all, 13)
		for i := range now {
			if now[i] < top-1e-9 || now[i] > bottom+1e-9 {
				t.Fatalf("%v: %v leaves the plot", was, now)
			}
			for j := range now {
				if i != j && (math.Abs(now[i]-now[j]) < 13-1e-9 || was[i] < was[j] && now[i] > now[j]) {
					t.Fatalf("%v became %v", was, now)
				}
			}
		}
	})
}

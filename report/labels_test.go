package report

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/pho-go/pho/label"
)

// Ticks are round numbers as they are shown, at the places of the data's numbers.
func TestTicksAreRoundInShownUnits(t *testing.T) {
	for _, c := range []struct {
		name   string
		scale  *label.BackTransform
		lo, hi float64
		want   string
	}{
		{"as it is", nil, 0, 1, "0 0.2 0.4 0.6 0.8 1.0"},
		{"share of 41 degrees", &label.BackTransform{Scale: 41}, 0.02, 1, "10 20 30 40"},
		{"standardised", &label.BackTransform{Scale: 10, Shift: 20}, -3, 3, "-10 0 10 20 30 40 50"},
		{"downwards", &label.BackTransform{Scale: -5, Shift: 100}, -2, 2, "90 95 100 105 110"},
		{"log of a small range", &label.BackTransform{Function: label.Exp}, math.Log(20), math.Log(50), "20 25 30 35 40 45 50"},
		{"log10 of a large one", &label.BackTransform{Function: label.Exp10}, 1, 5, "10 50 200 1000 5000 20000 100000"},
		{"log1p", &label.BackTransform{Function: label.Expm1}, 0, math.Log1p(1000), "0 2 10 50 200 1000"},
		{"a point", &label.BackTransform{Function: label.Exp}, 1, 1, ""},
		{"too large to show", &label.BackTransform{Function: label.Exp}, 0, 1e4, ""},
	} {
		x := axis{span{c.lo, c.hi}, left, right}
		a := &Axis{Values: []float64{c.lo, c.hi}, Scale: c.scale}
		var labels []string
		for _, tick := range a.shownTicks(x, 6) {
			shown := strings.Replace(tick.Label, "−", "-", 1)
			labels = append(labels, shown)
			v, err := strconv.ParseFloat(shown, 64)
			if err != nil {
				t.Fatal(err)
			}
			at, err := strconv.ParseFloat(tick.At, 64)
			if want := x.at(c.scale.Value(v)); err != nil || math.Abs(at-want) > 0.06 {
				t.Errorf("%s: %s stands at %s, want %g", c.name, tick.Label, tick.At, want)
			}
		}
		if got := strings.Join(labels, " "); got != c.want && strings.Join(reversed(labels), " ") != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func reversed(s []string) (out []string) {
	for i := range s {
		out = append(out, s[len(s)-1-i])
	}
	return out
}

func TestAxesAreCalledByLabels(t *testing.T) {
	l := &label.Labels{Columns: map[string]label.Column{
		"temp": {Name: "Temperature", Unit: "°C", BackTransform: &label.BackTransform{Scale: 41}}, "dow": {Name: "Day", Levels: map[string]string{"1": "Monday"}}, "yr_1": {Name: "2012"},
	}}
	numbers := (&Axis{Feature: "temp", Values: []float64{0.5}}).labelled(l, label.Term{Name: "s(temp)", Features: []string{"temp"}})
	if numbers.Title() != "Temperature (°C)" || numbers.Text(0) != "20.5 °C" || numbers.Values[0] != 0.5 {
		t.Errorf("%+v: %q, %q", numbers, numbers.Title(), numbers.Text(0))
	}
	levels := (&Axis{Feature: "dow", Levels: []string{"1", "2"}}).labelled(l, label.Term{Name: "dow", Features: []string{"dow"}})
	if levels.Title() != "Day" || levels.Text(0) != "Monday" || levels.Text(1) != "2" {
		t.Errorf("%+v", levels)
	}
	onehot := (&Axis{Feature: "onehot(yr_0,yr_1)", Levels: []string{"yr_0", "yr_1"}}).labelled(l, label.Term{Name: "onehot(yr_0,yr_1)", Features: []string{"yr_0", "yr_1"}})
	if onehot.Title() != "onehot(yr_0, 2012)" || onehot.Text(1) != "2012" {
		t.Errorf("%+v", onehot)
	}
	if (*Axis)(nil).labelled(l, label.Term{}) != nil {
		t.Error("an axis out of nothing")
	}
}

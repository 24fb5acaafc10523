package report

import (
	"slices"
	"testing"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/label"
)

func TestAxesAreCalledByLabels(t *testing.T) {
	l := &label.Labels{Columns: map[string]label.Column{
		"temp": {Name: "Temperature", Unit: "°C", BackTransform: &label.BackTransform{Scale: 41}}, "dow": {Name: "Day", Levels: map[string]string{"1": "Monday"}}, "yr_1": {Name: "2012"},
	}}
	numbers := (&Axis{Feature: "temp", Values: []float64{0.5}}).labelled(l, label.Term{Name: "s(temp)", Features: []string{"temp"}}, nil)
	if numbers.Title() != "Temperature (°C)" || numbers.Text(0) != "20.5 °C" || numbers.Values[0] != 20.5 {
		t.Errorf("%+v: %q, %q", numbers, numbers.Title(), numbers.Text(0))
	}
	levels := (&Axis{Feature: "dow", Levels: []string{"1", "2"}}).labelled(l, label.Term{Name: "dow", Features: []string{"dow"}}, []decompose.Feature{{Name: "dow", Min: 1, Max: 2}})
	if levels.Title() != "Day" || !levels.ordered() || !slices.Equal(levels.places, []float64{1, 2}) || levels.Text(0) != "Monday" || levels.Text(1) != "2" {
		t.Errorf("%+v", levels)
	}
	onehot := (&Axis{Feature: "onehot(yr_0,yr_1)", Levels: []string{"yr_0", "yr_1"}}).labelled(l, label.Term{Name: "onehot(yr_0,yr_1)", Features: []string{"yr_0", "yr_1"}}, nil)
	if onehot.Title() != "onehot(yr_0, 2012)" || onehot.Text(1) != "2012" {
		t.Errorf("%+v", onehot)
	}
	if (*Axis)(nil).labelled(l, label.Term{}, nil) != nil {
		t.Error("an axis out of nothing")
	}
}

// Numbers that are shown the other way round take the values at them along, and only those.
func TestShownGridsAscend(t *testing.T) {
	l := &label.Labels{Columns: map[string]label.Column{"depth": {BackTransform: &label.BackTransform{Scale: -5, Shift: 100}}, "temp": {BackTransform: &label.BackTransform{Scale: 10}}}}
	raw := Effect{
		X: &Axis{Feature: "temp", Values: []float64{1, 2}}, X2: &Axis{Feature: "depth", Values: []float64{0, 1, 2}},
		Before: []float64{1, 2, 3, 4, 5, 6}, After: []float64{10, 20, 30, 40, 50, 60}, SE: []float64{1, 2, 3, 4, 5, 6},
	}
	e := raw
	e.show(l, label.Term{Name: "te(temp,depth)", Features: []string{"temp", "depth"}}, nil)
	if !slices.Equal(e.X.Values, []float64{10, 20}) || !slices.Equal(e.X2.Values, []float64{90, 95, 100}) || !slices.Equal(e.After, []float64{30, 20, 10, 60, 50, 40}) || !slices.Equal(e.SE, []float64{3, 2, 1, 6, 5, 4}) || e.Sim != nil {
		t.Errorf("%+v, %v, %v", e, e.X.Values, e.X2.Values)
	}
	if raw.After[0] != 10 || raw.X2.Values[0] != 0 {
		t.Error("the effect itself was changed")
	}
}

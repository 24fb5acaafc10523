package report_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/label"
	"github.com/pho-go/pho/report"
)

// Fields begin with numbers as they are shown, of as many digits as tell hundreds of numbers of the range apart.
func TestNumberValue(t *testing.T) {
	scaled := &label.Labels{Columns: map[string]label.Column{"x": {BackTransform: &label.BackTransform{Scale: -2, Shift: 10}}}}
	for _, c := range []struct {
		labels *label.Labels
		lo, hi float64
		v      float64
		want   string
	}{
		{nil, -3.27, 3.47, 0.0029373, "0.003"}, {nil, -3.27, 3.47, -1.2345678, "-1.23"}, {nil, 474, 714808, 22026.4, "22000"}, {nil, 1900, 2100, 2015, "2015"},
		{nil, 0, 1e9, 123456789, "123456789"}, {scaled, 0, 5, 1.25, "7.5"}, {nil, 5, 5, 5.5, "5.5"}, {nil, -1, 1, 1e-12, "0"},
	} {
		f := report.Field{Column: "x", Range: &[2]float64{c.lo, c.hi}}
		if got := f.NumberValue(c.labels, c.v); got != c.want {
			t.Errorf("%v between %v and %v: %q, want %q", c.v, c.lo, c.hi, got, c.want)
		}
	}
	if got := (&report.Field{Column: "x"}).NumberValue(nil, math.Pi); got != "3.1416" {
		t.Errorf("pi of no range: %q", got)
	}
}

// A form says of each field what was in training, in people's units, and where a number is outside.
func TestFormFields(t *testing.T) {
	labels := &label.Labels{Columns: map[string]label.Column{"x": {Name: "depth", Unit: "m", BackTransform: &label.BackTransform{Scale: -2, Shift: 10}}, "g": {Levels: map[string]string{"n": "North & sea"}}}}
	r := &decompose.Result{Labels: labels, Predictors: []decompose.Predictor{{Name: "eta"}}}
	f := &report.Form{Result: r, Action: "/?model=a", Fault: "wrong <b>", Fields: []report.Field{
		{Name: "c:x", Column: "x", Range: &[2]float64{0, 5}, Value: "11"}, {Name: "c:x2", Column: "x2", Range: &[2]float64{0, 5}, Value: "5"},
		{Name: "c:x3", Column: "x3", Range: &[2]float64{5e-5, 1.0004}, Value: "0"},
		{Name: "c:g", Column: "g", Levels: []string{"n", "s"}, Value: report.LevelValue("n")}, {Name: "c:t", Column: "t", Text: true, Seen: []string{"a\"b"}},
	}}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"depth (m)", `class="outside">outside 0 to 10, as it was in training`, `>0 to 5 in training`, `>0 to 1 in training`, `<option value="=n" selected dir="auto">North &amp; sea</option>`,
		`<option value="a&#34;b">`, "wrong &lt;b&gt;", `action="/?model=a"`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in %s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "Prediction of") || strings.Contains(b.String(), "<table") {
		t.Error("something is drawn")
	}
}

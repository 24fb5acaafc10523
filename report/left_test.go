package report

import (
	"strings"
	"testing"

	"github.com/pho-go/pho/decompose"
)

// TestWhatIsLeft: single columns are told first, pairs where they matter beside these, and nothing is said of what nobody looked for.
func TestWhatIsLeft(t *testing.T) {
	pair := func(a, b string, gain float64) decompose.PairGain {
		return decompose.PairGain{Features: []string{a, b}, Gain: gain}
	}
	single := func(name string, gain float64) decompose.SingleGain {
		return decompose.SingleGain{Feature: name, Gain: gain}
	}
	ages := []decompose.SingleGain{single("age", 0.46), single("cement", 0.29), single("water", 0.1), single("ash", 0.05)}
	const curves = "Other curves of single columns would tell another 89 %, above all those of age, cement and water."
	for _, c := range []struct {
		left decompose.Remainder
		want string
	}{
		{decompose.Remainder{}, "What cannot be read hangs on no pair of columns more than chance would have it."},
		{decompose.Remainder{Unasked: "there are no two columns that vary"}, ""},
		{decompose.Remainder{SingleColumns: 0.89, Singles: ages, Pairs: []decompose.PairGain{pair("age", "cement", 0.004)}}, curves},
		{decompose.Remainder{SingleColumns: 0.89, Singles: ages, Unasked: "of two pairs alone"}, curves},
		{decompose.Remainder{SingleColumns: 0.015, Singles: ages[:1], Pairs: []decompose.PairGain{pair("a", "b", 0.017), pair("a", "c", 0.002), pair("b", "c", 0.0004)}},
			"Of what cannot be read, these pairs of columns would tell most, beyond what each does alone: a with b (1.7 % of all differences), a with c (0.2 %)."},
		{decompose.Remainder{SingleColumns: 0.03, Singles: []decompose.SingleGain{single("age", 0.02), single("ash", 0.001)}, Pairs: []decompose.PairGain{pair("a", "b", 0.017)}},
			"Other curves of single columns would tell another 3 %, above all those of age. Of what cannot be read, these pairs of columns would tell most, beyond what each does alone: a with b (1.7 % of all differences)."},
		{decompose.Remainder{SingleColumns: 0.08, Singles: []decompose.SingleGain{single("age", 0.001)}, Pairs: []decompose.PairGain{pair("a", "b", 0.002)}}, "Other curves of single columns would tell another 8 %."},
	} {
		d := &decompose.Predictor{Terms: []decompose.TermResult{{Name: "s(x)"}}, Variance: decompose.Variance{Total: 1, Structured: 0.1, Unstructured: 0.9}, Remainder: &c.left}
		if got := strings.ReplaceAll(leftWords(d), "\u00a0", " "); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestReadFrom: one curve is one.
func TestReadFrom(t *testing.T) {
	with, without := ranked{finding: &finding{}}, ranked{}
	for want, ranking := range map[string][]ranked{
		"the curve below": {with}, "the curves below": {with, with}, "the parts below, 1 of 2 without a curve": {with, without},
	} {
		if got := readFrom(ranking); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestUnstableColumns: networks that do not agree are told by columns; two terms of one column by their names.
func TestUnstableColumns(t *testing.T) {
	term := func(name, column string, between float64) decompose.TermResult {
		return decompose.TermResult{Name: name, Features: []string{column}, BetweenSD: &decompose.BetweenSD{After: between}, After: decompose.Moment{Variance: 1}}
	}
	d := &decompose.Predictor{Terms: []decompose.TermResult{term("f(hr)", "hr", 0.9), term("x", "x", 0.8), term("s(x)", "x", 0.1)}}
	r := &decompose.Result{Networks: &decompose.Networks{Names: []string{"1", "2"}, From: decompose.Resamples}}
	if got, want := newAgreement(r, d).Words, "The 2 networks, trained on resamples of the rows, do not agree on hr and x: there they differ by more than half of the curve's own standard deviation."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

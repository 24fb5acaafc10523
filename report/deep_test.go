package report_test

import (
	"strings"
	"testing"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/report"
)

func TestDeepWords(t *testing.T) {
	img := []decompose.Array{{Column: "img", Kind: "picture"}}
	both := append(img[:1:1], decompose.Array{Column: "note", Kind: "sequence"})
	for _, c := range []struct {
		deep          *decompose.Deep
		before, after float64
		want          string
		name          string
	}{
		{nil, 0.8, 0.4, "", "unstructured"},
		{&decompose.Deep{Arrays: img}, 0.8, 0.4, "Beyond the table, the picture img tells 40 % of what makes predictions differ. Of what the network took from the picture, 50 % can be told from the table as well, and has moved to its columns.", "img, beyond the table"},
		{&decompose.Deep{Arrays: both}, 0.5, 0.04, "Beyond the table, the picture img and the sequence note tell 4 % of what makes predictions differ. Of what the network took from them, 92 % can be told from the table as well, and has moved to its columns. The two tell nearly the same.", "img, note, beyond the table"},
		{&decompose.Deep{Arrays: img, Columns: []string{"age", "sex"}}, 0.8, 0.8, "Beyond the curves of the table, 80 % of what makes predictions differ is of the picture img together with age and sex, which the network's deep part reads as well: how much the picture alone would tell is not known. Of all that the deep part held, 0 % can be told from the table alone, and has moved to its columns. The two tell different things.", "img with age, sex"},
		{&decompose.Deep{Arrays: img}, 0, 0, "", "img, beyond the table"},
	} {
		d := &decompose.Predictor{
			Deep: c.deep, Terms: make([]decompose.TermResult, 1),
			VarianceBefore: decompose.Variance{Unstructured: c.before, Total: 1}, Variance: decompose.Variance{Unstructured: c.after, Total: 1},
		}
		if got := strings.ReplaceAll(report.DeepWords(d), "\u00a0", " "); got != c.want {
			t.Errorf("%+v\n%s, want\n%s", c.deep, got, c.want)
		}
		if name, _ := report.RemainderWords(d); name != c.name {
			t.Errorf("%+v: the remainder is called %q, want %q", c.deep, name, c.name)
		}
	}
}

func TestDeepFeatures(t *testing.T) {
	r := &decompose.Result{
		Predictors: []decompose.Predictor{{Deep: &decompose.Deep{Arrays: []decompose.Array{{Column: "img", Kind: "picture"}}}}},
		DeepFeatures: []decompose.DeepFeatures{
			{Columns: []string{"img"}, Width: 9, Explained: 0.3, R2ByChance: 0.06, Functions: []decompose.DeepFunction{
				{R2: 0.9, Share: 0.2, With: []decompose.ColumnsShare{{Columns: []string{"age"}, Share: 0.6}, {Columns: []string{"bmi"}, Share: 0.01}, {Columns: []string{"age", "bmi"}, Share: 1}, {Columns: []string{"age", "sex"}, Share: 0.61}}},
				{R2: 0.1, Share: 0.001, With: []decompose.ColumnsShare{{Columns: []string{"age"}, Share: 0.02}}},
			}},
			{Columns: []string{"img", "age"}, Width: 9, R2ByChance: 1},
			{Columns: []string{"img"}, Width: 9, R2ByChance: 0.5},
		},
	}
	all := report.NewDeepFeatures(r)
	var with []string
	for _, f := range all[0].Rows {
		with = append(with, strings.ReplaceAll(f.With, "\u00a0", " "))
	}
	if got := strings.Join(with, " | "); got != "age 60.0 %; age, bmi 100.0 % | many together" {
		t.Errorf("told by %q", got)
	}
	for i, want := range []string{"What the table tells of the picture img", "What the table tells of the picture img, with age", "What the table tells of the picture img"} {
		if all[i].Title != want {
			t.Errorf("%q, want %q", all[i].Title, want)
		}
	}
	if !strings.Contains(all[1].Functions, "so few rows cannot say") || !strings.Contains(all[2].Functions, "No linear function of them is told beyond chance") {
		t.Errorf("%q, %q", all[1].Functions, all[2].Functions)
	}
}

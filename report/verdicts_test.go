package report_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/decompose"
)

// TestVerdictsOnPage: every verdict is in the table, its reason below and in the caption.
func TestVerdictsOnPage(t *testing.T) {
	r, a := everything(t)
	d := &r.Predictors[0]
	set := func(name string, v decompose.Verdict, why string) {
		for j := range d.Terms {
			if d.Terms[j].Name == name {
				d.Terms[j].Verdict, d.Terms[j].Why, d.Terms[j].Because = v, why, nil // as earlier versions wrote it
			}
		}
	}
	for _, term := range d.Terms {
		if term.Verdict == "" {
			t.Errorf("%s has no verdict", term.Name)
		}
	}
	set("dow", decompose.Weak, "hardly <told> at all")
	set("group", decompose.Convention, "depends on a choice")
	page := pageOf(t, r, effectsOf(t, r, a))
	check(t, page)
	contains(t, page, "dow : hardly &lt;told&gt; at all.", "group : depends on a choice.",
		"Weak: hardly &lt;told&gt; at all.", "Given a convention: depends on a choice.")
	if n := strings.Count(page, `<td class="no">`); n < 4 {
		t.Errorf("%d cells of the table of terms are marked", n)
	}
	// An artifact of an earlier version has no verdicts.
	for j := range d.Terms {
		d.Terms[j].Verdict, d.Terms[j].Why, d.Terms[j].Because = "", "", nil
	}
	old := pageOf(t, r, effectsOf(t, r, a))
	if strings.Contains(old, "of verdict") || !strings.Contains(old, "<td>identified</td>") || !strings.Contains(old, `<td class="no">sum</td>`) {
		t.Error("the verdicts of a result without them")
	}
}

// TestReasonsOnPage: a reason is a row as a whole, whatever the names that it has.
func TestReasonsOnPage(t *testing.T) {
	r, a := everything(t)
	d := &r.Predictors[0]
	for j := range d.Terms {
		d.Terms[j].Because = nil
		if d.Terms[j].Name == "group" {
			d.Terms[j].Verdict, d.Terms[j].Because = decompose.Weak, []decompose.Reason{
				{Kind: decompose.ReasonNearCopy, Text: "part of it can hardly be told from a; b"}, {Kind: decompose.ReasonSplit, Text: "its split with x; besides, y is open"}}
		}
	}
	contains(t, pageOf(t, r, effectsOf(t, r, a)), "group : part of it can hardly be told from a; b.", "group : its split with x; besides, y is open.")
}

// TestSumsOnPage: the sd of a sum is that of its moments; where a file has none it is
// estimated from the curve, and said to be; a sum without a curve is then left out.
func TestSumsOnPage(t *testing.T) {
	r, a := everything(t)
	d := &r.Predictors[0]
	if len(d.Entangled) != 1 {
		t.Fatal(d.Entangled)
	}
	e := &d.Entangled[0]
	e.Before.Variance, e.After.Variance = 0.123*0.123, 4.567*4.567 // of no curve
	known := pageOf(t, r, effectsOf(t, r, a))
	contains(t, known, "x0 &#43; s(x0) 0.123 4.57", "sum sum 10 8.94", "x0 4.57")
	if strings.Contains(text(known), "≈") {
		t.Error("a known sd is called an estimate")
	}
	e.Terms = []string{"dow", "s(x0)"} // no curve: terms of two features
	contains(t, pageOf(t, r, effectsOf(t, r, a)), "dow &#43; s(x0) 0.123 4.57")
	e.Before, e.After = nil, nil
	if page := text(pageOf(t, r, effectsOf(t, r, a))); strings.Contains(page, "dow &#43; s(x0) 0") {
		t.Error("a sum of which nothing is known is in the table")
	}
	e.Terms = []string{"x0", "s(x0)"}
	contains(t, pageOf(t, r, effectsOf(t, r, a)), "x0 &#43; s(x0) ≈", "x0 ≈")
}

// TestNearlyDependentOnPage: terms of which the rows tell only the sum are no pictures with bands, and no headline; a sum that is weak says so.
func TestNearlyDependentOnPage(t *testing.T) {
	r, a := everything(t)
	d := &r.Predictors[0]
	sum := []string{"dow", "group"}
	for j := range d.Terms {
		if term := &d.Terms[j]; slices.Contains(sum, term.Name) {
			term.Verdict, term.Because = decompose.Sum, []decompose.Reason{{Kind: decompose.ReasonSum, Text: "only dow + group is told", With: sum}, {Kind: decompose.ReasonNearlyDependent, Text: "nearly dependent"}}
		}
	}
	d.Entangled = append(d.Entangled, decompose.Entanglement{Terms: sum, Reason: "nearly dependent", Before: &decompose.Moment{}, After: &decompose.Moment{Variance: 100},
		Weak: []decompose.Reason{{Kind: decompose.ReasonStandardError, Text: "its standard error is 40 % of it"}}})
	page := pageOf(t, r, effectsOf(t, r, a))
	check(t, page)
	contains(t, page, "dow and group : the rows tell only what these do together", "dow &#43; group 0 10", "sum, weak",
		"dow &#43; group : nearly dependent; besides, its standard error is 40 % of it.",
		"Not identified: only its sum with group is. No band.", "Not identified: only its sum with dow is. No band.")
}

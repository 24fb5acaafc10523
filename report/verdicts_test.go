package report_test

import (
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
				d.Terms[j].Verdict, d.Terms[j].Why = v, why
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
		d.Terms[j].Verdict, d.Terms[j].Why = "", ""
	}
	old := pageOf(t, r, effectsOf(t, r, a))
	if strings.Contains(old, "of verdict") || !strings.Contains(old, "<td>identified</td>") || !strings.Contains(old, `<td class="no">sum</td>`) {
		t.Error("the verdicts of a result without them")
	}
}

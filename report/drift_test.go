package report

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pho-go/pho/drift"
)

// TestDriftTicks: labels of periods do not run into one another, however many there are.
func TestDriftTicks(t *testing.T) {
	for _, name := range []string{"2026-01-%02d", "%d"} {
		for n := 1; n <= 100; n++ {
			var periods []*drift.Period
			for i := range n {
				periods = append(periods, &drift.Period{Name: fmt.Sprintf(name, i+1)})
			}
			ticks, end := driftTicks(driftAxis(n), periods), -1e9
			if len(ticks) == 0 || len(ticks) > driftXLabels {
				t.Fatalf("%d periods: %d labels", n, len(ticks))
			}
			for _, tick := range ticks {
				at, err := strconv.ParseFloat(tick.At, 64)
				if err != nil {
					t.Fatal(err)
				}
				half := 3.1 * float64(utf8.RuneCountInString(tick.Label))
				if at-half < end {
					t.Errorf("%d periods: %q at %g begins before %g", n, tick.Label, at, end)
				}
				end = at + half
			}
		}
	}
}

// TestDriftNotes: what is said of many periods is said once.
func TestDriftNotes(t *testing.T) {
	r := &drift.Report{Reference: "2026-01", With: &drift.Period{Name: "2026-01"}}
	for i := range 30 {
		name := fmt.Sprintf("2026-%02d", i+1)
		r.Periods = append(r.Periods, &drift.Period{Name: name})
		if i > 0 {
			r.Changes = append(r.Changes, &drift.Change{Period: name, Notes: []string{"period 2026-01 has fewer than 10 rows: tests are rough", "period " + name + " has fewer than 10 rows: tests are rough"}})
		}
	}
	r.Changes[3].Notes = append(r.Changes[3].Notes, "something else")
	notes := newDriftPage(r).Notes
	if len(notes) != 2 || !strings.HasPrefix(notes[0], "period 2026-01 has fewer than 10 rows: tests are rough (the same of 2026-02, ") || !strings.HasSuffix(notes[0], "17 more)") || notes[1] != "something else" {
		t.Errorf("%q", notes)
	}
}

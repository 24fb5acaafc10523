package drift_test

import (
	"strings"
	"testing"

	"github.com/pho-go/pho/drift"
)

func TestClock(t *testing.T) {
	for _, c := range []struct {
		unit             drift.Unit
		zone, cell, want string
	}{
		{drift.Day, "", "2026-01-31", "2026-01-31"},
		{drift.Day, "", "20260131", "2026-01-31"},
		{drift.Hour, "", "2026-01-31T23:59", "2026-01-31T23"},
		{drift.Hour, "", " 2026-01-31 23:59:59.25 ", "2026-01-31T23"},
		{drift.Hour, "", "2026-01-31 23:59:59.5+02:00", "2026-01-31T21"},
		{drift.Hour, "+02:00", "2026-01-31T23:59:59Z", "2026-02-01T01"},
		{drift.Hour, "+02:00", "2026-01-31T23:59:59", "2026-01-31T23"},
		{drift.Day, "", "1769903999", "2026-01-31"},
		{drift.Day, "", "1769903999.9", "2026-01-31"},
		{drift.Week, "", "2024-12-30", "2025-W01"},
		{drift.Month, "", "2026-01-31", "2026-01"},
		{drift.Quarter, "", "2026-04-01T00:00:00Z", "2026-Q2"},
		{drift.Quarter, "-01:00", "2026-04-01T00:00:00Z", "2026-Q1"},
		{drift.Year, "", "2026-12-31", "2026"},
		{drift.Label, "", " batch 7 ", "batch 7"},
	} {
		clock, err := drift.NewClock(c.unit, c.zone)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := clock.Period(c.cell); got != c.want || err != nil {
			t.Errorf("%q by %s in %q is in %q (%v), want %q", c.cell, c.unit, c.zone, got, err, c.want)
		}
	}
	clock, _ := drift.NewClock(drift.Day, "UTC")
	for cell, want := range map[string]string{
		"": "no time", "NaN": "is no time", "31.01.2026": "is no time", "2026-02-30": "is no time", "soon": "is no time", "Inf": "is no time",
		"1769903999000": "divide milliseconds by 1000", "2026": "too small", "12": "too small", "-5": "too small",
	} {
		if got, err := clock.Period(cell); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, error %v", cell, got, err)
		}
	}
	for _, zone := range []string{"Local", "Mars/Olympus", "+2"} {
		if _, err := drift.NewClock(drift.Day, zone); err == nil {
			t.Errorf("zone %q is one", zone)
		}
	}
	if _, err := drift.NewClock("fortnight", ""); err == nil {
		t.Error("fortnights are periods")
	}
}

// Longer periods are made of shorter ones, where these lie within them.
func TestLongerPeriods(t *testing.T) {
	s := source(t, 1, byDay)
	for name, want := range map[string]int64{"2026-01-02": 0, "2026-01": 237, "2026": 237, "2026-Q1": 237, "2026-W01": 237} {
		p, err := s.Period(name)
		if err != nil {
			t.Fatal(err)
		}
		if want > 0 && p.Rows != want {
			t.Errorf("%s has %d rows, want %d", name, p.Rows, want)
		}
	}
	report, err := s.Report("2026-01")
	if err != nil || len(report.Changes) != 0 || len(report.Periods) != 3 || report.With.Rows != 237 {
		t.Errorf("days are compared with their month: %+v (%v)", report, err)
	}
	if _, err := s.Rolled(drift.Hour); err == nil {
		t.Error("days became hours")
	}
	weeks, err := s.Rolled(drift.Week)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := weeks.Rolled(drift.Month); err == nil {
		t.Error("weeks became months")
	}
	r, err := s.ReportOf(s, "2026-01-01..2026-01-03")
	if err != nil || r.Changes[0].Period != "2026-01-03" {
		t.Errorf("%+v, %v", r, err)
	}
	for _, periods := range []string{"2026-01-01", "x..2026-01-01", "2026-01-01..x", ".."} {
		if _, err := s.ReportOf(s, periods); err == nil {
			t.Errorf("periods %q are two", periods)
		}
	}
}

package drift

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Unit is how long a period is.
type Unit string

// The units. Label is none: what a cell says is the period.
const (
	Hour    Unit = "hour"
	Day     Unit = "day"
	Week    Unit = "week" // of ISO 8601: from Monday
	Month   Unit = "month"
	Quarter Unit = "quarter"
	Year    Unit = "year"
	Label   Unit = "label"
)

// Units are those that there are, shortest first.
func Units() []Unit { return []Unit{Hour, Day, Week, Month, Quarter, Year, Label} }

// Clock names the periods of times.
type Clock struct {
	unit Unit
	zone *time.Location
}

// NewClock names periods of a unit in a time zone: "" or UTC, an offset as +02:00, or a name
// of the IANA database where the system has that, as Europe/Berlin. Times without an offset are
// taken as of that zone.
func NewClock(unit Unit, zone string) (*Clock, error) {
	if !slices.Contains(Units(), unit) {
		return nil, fmt.Errorf("drift: periods by %q: it is one of hour, day, week, month, quarter, year and label", unit)
	}
	if t, err := time.Parse("-07:00", zone); err == nil {
		_, seconds := t.Zone()
		return &Clock{unit, time.FixedZone(zone, seconds)}, nil
	}
	location, err := time.LoadLocation(zone)
	if err != nil || zone == "Local" { // which would differ from machine to machine
		return nil, fmt.Errorf("drift: time zone %q: it is UTC, an offset as +02:00, or a name as Europe/Berlin that this system knows", zone)
	}
	return &Clock{unit, location}, nil
}

// Period is the period of a cell; an empty one is an error.
func (c *Clock) Period(cell string) (string, error) {
	cell = strings.TrimSpace(cell)
	switch {
	case cell == "":
		return "", fmt.Errorf("drift: a row has no time")
	case c.unit == Label:
		return cell, checkLabel(cell)
	}
	t, err := c.parse(cell)
	if err != nil {
		return "", err
	}
	return name(t, c.unit), nil
}

// name is the period of a unit that t is in.
func name(t time.Time, unit Unit) string {
	switch unit {
	case Hour:
		return t.Format("2006-01-02T15")
	case Day:
		return t.Format("2006-01-02")
	case Week:
		year, week := t.ISOWeek()
		return fmt.Sprintf("%04d-W%02d", year, week)
	case Month:
		return t.Format("2006-01")
	case Quarter:
		return fmt.Sprintf("%04d-Q%d", t.Year(), (int(t.Month())+2)/3)
	}
	return t.Format("2006")
}

// layouts are the forms of ISO 8601 that are read; a fraction of a second may follow any seconds.
var layouts = [...]string{
	"2006-01-02", "20060102", "2006-01-02T15", "2006-01-02T15:04", "2006-01-02T15:04:05",
	"2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07",
	"20060102T150405", "20060102T150405Z07:00",
}

// parse reads a time of ISO 8601, with T or a blank before the hour, or seconds since 1970.
func (c *Clock) parse(cell string) (time.Time, error) {
	text := cell
	if len(text) > 10 && text[10] == ' ' {
		text = text[:10] + "T" + text[11:]
	}
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, text, c.zone); err == nil {
			t = t.In(c.zone)
			if y := t.Year(); y < 1 || y > 9999 {
				break
			}
			return t, nil
		}
	}
	seconds, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || !(seconds >= -1e15 && seconds <= 1e20):
		return time.Time{}, fmt.Errorf("drift: %q is no time: times are as 2026-01-31, 2026-01-31T23:59 or 2026-01-31 23:59:59.5+02:00 (ISO 8601), or seconds since 1970", clip(cell))
	case seconds >= 1e11:
		return time.Time{}, fmt.Errorf("drift: %q is too large for seconds since 1970: divide milliseconds by 1000", clip(cell))
	case seconds < 1e8: // 1973: years, days and months are below
		return time.Time{}, fmt.Errorf("drift: %q is too small for seconds since 1970, which are read from 1e8 (March 1973) on: write the time as 2026-01-31, or make periods by label of it", clip(cell))
	}
	whole := int64(seconds)
	return time.Unix(whole, 0).In(c.zone), nil
}

// coarser is the period of a longer unit that a period is in; false if none is, as a week may
// be in two months.
func coarser(period string, from, to Unit) (string, bool) {
	at, layout := slices.Index(Units(), from), ""
	if from == to {
		return period, true
	}
	if from == Label || from == Week || to == Label || slices.Index(Units(), to) < at {
		return "", false
	}
	switch from {
	case Hour:
		layout = "2006-01-02T15"
	case Day:
		layout = "2006-01-02"
	case Month:
		layout = "2006-01"
	case Quarter:
		return period[:min(4, len(period))], len(period) == 7
	}
	t, err := time.Parse(layout, period)
	return name(t, to), err == nil
}

// maxLabel bounds the names of periods and sources.
const maxLabel = 200

func checkLabel(label string) error {
	if label == "" || len(label) > maxLabel || strings.ToValidUTF8(label, "") != label {
		return fmt.Errorf("drift: %q cannot name a period: names are UTF-8 of 1 to %d bytes", clip(label), maxLabel)
	}
	return nil
}

// clip shortens text from outside for a message.
func clip(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "..."
	}
	return s
}

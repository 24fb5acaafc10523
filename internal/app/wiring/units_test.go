package wiring

import (
	"maps"
	"strings"
	"testing"

	"github.com/pho-go/pho/data"
)

// TestUnits: what dates count is noted of the columns that are read, told, and asked of new rows.
func TestUnits(t *testing.T) {
	schema := data.Schema{{Name: "day", Numeric: true, Unit: "days since 1970-01-01"}, {Name: "at", Numeric: true, Unit: "seconds since midnight"}, {Name: "x", Numeric: true}}
	ref := Reference{Units: unitsOf(schema, []string{"day", "x"})}
	if want := map[string]string{"day": "days since 1970-01-01"}; !maps.Equal(ref.Units, want) {
		t.Errorf("%v", ref.Units)
	}
	if said := ref.units(); len(said) != 1 || said[0] != `column "day" holds dates or times, which are read as days since 1970-01-01` {
		t.Errorf("%q", said)
	}
	if err := ref.sameUnits(schema); err != nil {
		t.Error(err)
	}
	if err := ref.sameUnits(data.Schema{{Name: "day", Numeric: true}}); err != nil {
		t.Error(err)
	}
	other := data.Schema{{Name: "day", Numeric: true, Unit: "seconds since 1970-01-01 00:00"}}
	if err := ref.sameUnits(other); err == nil || !strings.Contains(err.Error(), "store it as then") {
		t.Error(err)
	}
	if unitsOf(schema, []string{"x"}) != nil {
		t.Error("units of no column")
	}
}

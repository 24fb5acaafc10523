package wiring

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pho-go/pho/data"
)

// unitsOf is the unit that each column of dates or times counts in; nil: there is none.
func unitsOf(schema data.Schema, columns []string) map[string]string {
	var units map[string]string
	for _, c := range schema {
		if c.Unit != "" && slices.Contains(columns, c.Name) {
			if units == nil {
				units = map[string]string{}
			}
			units[c.Name] = c.Unit
		}
	}
	return units
}

// units tells of the columns that hold dates or times.
func (ref *Reference) units() []string {
	var out []string
	for _, column := range slices.Sorted(maps.Keys(ref.Units)) {
		out = append(out, fmt.Sprintf("column %q holds dates or times, which are read as %s", Shorten(column, maxName), ref.Units[column]))
	}
	return out
}

// sameUnits refuses dates and times that count something else than those that were decomposed.
// Numbers are what somebody has made of them.
func (ref *Reference) sameUnits(schema data.Schema) error {
	for _, column := range slices.Sorted(maps.Keys(ref.Units)) {
		if c, _ := schema.Lookup(column); c.Unit != "" && c.Unit != ref.Units[column] {
			return fmt.Errorf("column %q holds %s, and when the network was decomposed it held %s: store it as then", column, c.Unit, ref.Units[column])
		}
	}
	return nil
}

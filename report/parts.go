package report

import (
	"slices"
	"strings"

	"github.com/pho-go/pho/drift"
)

// partNames are what sentences call the parts of a predictor: a term by its columns if no other has the same, else as it is.
type partNames map[string][]string // the columns of terms, by name

// of is what one part is called.
func (n partNames) of(part string) string {
	columns, known := n[part]
	if part == drift.Unstructured && !known {
		return "what no term explains"
	}
	for other, same := range n {
		if len(columns) == 0 || other != part && slices.Equal(same, columns) {
			return clip(part, 40)
		}
	}
	name := clip(strings.Join(columns, " and "), 60)
	if len(columns) > 1 {
		name += " together"
	}
	return name
}

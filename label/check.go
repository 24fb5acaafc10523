package label

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/pho-go/pho/internal/base/spelling"
)

// Known is what labels may speak of. nil fields are not checked.
type Known struct {
	Columns []string
	// Part says that the data had more columns, of which nothing is known any more: labels of
	// other columns are an error only where one of Columns is probably meant.
	Part       bool
	Predictors []string // and classes
	Terms      []Term
}

// Check refuses labels of what does not exist, with the name that is probably meant, and
// names that would make two things look alike. Its error joins all faults.
func (l *Labels) Check(k Known) error {
	if l.IsEmpty() {
		return nil
	}
	var faults []error
	if k.Columns != nil {
		faults = append(faults, l.checkColumns(k)...)
	}
	if k.Predictors != nil {
		faults = append(faults, unknown("predictor", sortedKeys(l.Predictors), k.Predictors)...)
		faults = append(faults, taken("predictor", l.Predictors, k.Predictors)...)
	}
	if k.Terms != nil {
		faults = append(faults, l.checkTerms(k.Terms)...)
	}
	return joined(faults)
}

func (l *Labels) checkColumns(k Known) []error {
	named := sortedKeys(l.Columns)
	if k.Part {
		var free []string // columns without a label, one of which may be meant
		for _, c := range k.Columns {
			if _, ok := l.Columns[c]; !ok {
				free = append(free, c)
			}
		}
		named = slices.DeleteFunc(named, func(c string) bool { return !slices.Contains(k.Columns, c) && spelling.Nearest(c, free) == "" })
	}
	names := map[string]string{}
	for c, column := range l.Columns {
		if column.Name != "" {
			names[c] = column.Name
		}
	}
	return append(unknown("column", named, k.Columns), taken("column", names, k.Columns)...)
}

// maxFaults is how many faults a message has.
const maxFaults = 20

func joined(faults []error) error {
	if more := len(faults) - maxFaults; more > 0 {
		faults = append(slices.Clip(faults[:maxFaults]), fmt.Errorf("and %d faults more", more))
	}
	return errors.Join(faults...)
}

func unknown(what string, named, known []string) (faults []error) {
	for _, n := range named {
		if !slices.Contains(known, n) {
			faults = append(faults, fmt.Errorf("there is no %s %q%s", what, clip(n), among(n, known)))
		}
	}
	return faults
}

// taken refuses names that something else has which is shown as it is called.
func taken(what string, names map[string]string, known []string) (faults []error) {
	for _, key := range sortedKeys(names) {
		other := names[key]
		if _, renamed := names[other]; other != key && !renamed && slices.Contains(known, other) {
			faults = append(faults, fmt.Errorf("%s %q is called %q, which is another %s: give one of them another name", what, clip(key), clip(other), what))
		}
	}
	return faults
}

func (l *Labels) checkTerms(terms []Term) []error {
	var names []string
	for _, t := range terms {
		if !slices.Contains(names, t.Name) {
			names = append(names, t.Name)
		}
	}
	faults := unknown("term", sortedKeys(l.Terms), names)
	first := map[string]string{}
	for _, t := range terms {
		shown := l.Term(t)
		if other, ok := first[shown]; ok && other != t.Name {
			faults = append(faults, fmt.Errorf("terms %q and %q are both called %q: give one of them another name", clip(other), clip(t.Name), clip(shown)))
		}
		first[shown] = t.Name
	}
	return faults
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

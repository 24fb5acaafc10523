package decompose_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/pho-go/pho/decompose"
)

// revisitor collects the parts of all rows, as often as it is told.
type revisitor struct {
	collector
	passes int // wanted
	seen   []float64
	ends   int
	err    error
}

func (v *revisitor) Again(*decompose.Result) (bool, error) {
	v.seen = append(v.seen, v.unstructured[0]...)
	v.unstructured[0] = nil
	v.passes--
	return v.passes > 0, v.err
}

func (v *revisitor) End(*decompose.Result) error { v.ends++; return nil }

// A visitor that asks sees the same rows with the same parts again; others do not, and what
// is counted over rows is counted once.
func TestRevisitor(t *testing.T) {
	src := table(t, 9000, 1)
	v := &revisitor{passes: 3}
	passes := map[string]int64{}
	r, once := run(t, newFake(1), src, decompose.Options{Visitors: []decompose.Visitor{v},
		Progress: func(p decompose.Progress) { passes[p.Pass] = max(passes[p.Pass], p.Rows) }})
	if want := slices.Repeat(once.unstructured[0], 3); !slices.Equal(v.seen, want) {
		t.Errorf("%d rows in three passes over %d, or other parts", len(v.seen), len(once.eta[0]))
	}
	if v.ends != 1 || len(once.eta[0]) != 9000 || passes["remainder"] != 9000 {
		t.Errorf("%d ends, %d rows seen by the other visitor, progress %v", v.ends, len(once.eta[0]), passes)
	}
	counted := int64(0)
	for _, n := range r.Features[0].Counts {
		counted += n
	}
	if counted != 9000 {
		t.Errorf("%d rows are counted", counted)
	}
	broken := errors.New("broken")
	if _, err := decompose.Decompose(t.Context(), newFake(1), src, &decompose.Options{Visitors: []decompose.Visitor{&revisitor{passes: 1, err: broken}}}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

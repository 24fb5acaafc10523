package decompose_test

import (
	"errors"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

// A column that the rows lack is the source's typed error, whatever the column is for.
func TestMissingColumn(t *testing.T) {
	tab := table(t, 50, 1)
	o := func(c decompose.Columns) *decompose.Options {
		return &decompose.Options{Columns: c, Family: family.Gaussian{}}
	}
	other := newFake(1)
	other.columns = []string{"x0", "absent", "x2"}
	for _, c := range []struct {
		model   *fake
		columns decompose.Columns
	}{
		{newFake(1), decompose.Columns{Response: "absent"}},
		{newFake(1), decompose.Columns{Response: "x0", Weights: "absent"}},
		{newFake(1), decompose.Columns{Response: "x0", Offset: "absent"}},
		{newFake(1), decompose.Columns{Response: "x0", Groups: "absent"}},
		{other, decompose.Columns{Response: "x0"}},
	} {
		_, err := decompose.Decompose(t.Context(), c.model, tab, o(c.columns))
		var missing *data.MissingColumnError
		if !errors.As(err, &missing) || missing.Column != "absent" {
			t.Errorf("%+v: error %v (%T)", c.columns, err, err)
		}
	}
	// Another error stays what it is.
	_, err := decompose.Decompose(t.Context(), newFake(1), tab, &decompose.Options{Columns: decompose.Columns{Weights: "x0"}})
	var missing *data.MissingColumnError
	if err == nil || errors.As(err, &missing) {
		t.Errorf("weights below 0: %v", err)
	}
}

func TestMemoryError(t *testing.T) {
	need := decompose.Memory{{Name: "program", Bytes: 900}, {Name: "rows", Bytes: 300, Advice: decompose.FewerWorkers}, {Name: "outputs", Bytes: 200, Advice: decompose.OutputsInFile}}
	if err := need.Check(1400); err != nil {
		t.Error(err)
	}
	var e *decompose.MemoryError
	if err := need.Check(1399); !errors.As(err, &e) || e.Largest() != need[1] || e.Limit != 1399 {
		t.Errorf("%+v", e)
	}
	const want = "decompose: 1.4 KiB of memory would be needed, 1.4 KiB are allowed (program 900 B, rows 300 B, outputs 200 B); the largest is rows: try fewer workers"
	if e.Error() != want {
		t.Errorf("%s\nwant %s", e, want)
	}
}

package files

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pho-go/pho/data"
)

// TestLists reads columns of lists that pyarrow, polars and DuckDB wrote, in batches of several sizes, by several
// goroutines and by ranges of rows, and compares them, bit for bit, with what pyarrow makes arrays of.
func TestLists(t *testing.T) {
	want := all(mustOpen(t, nil, "lists.npz"))
	shapes := map[string][]int{"flat": {6}, "large": {5}, "fixed": {6}, "nested": {2, 3}, "square": {2, 3}, "ids": {4}, "few": {7},
		"truth": {9}, "half": {3}, "deep": {2, 1, 3}, "tensor": {2, 3}, "turned": {4, 2, 3}}
	if len(want.Tensors) != len(shapes) || want.Err != "" {
		t.Fatal(len(want.Tensors), want.Err)
	}
	paths, err := filepath.Glob(filepath.Join(golden, "lists_*"))
	if err != nil || len(paths) < 13 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			for _, o := range []*Options{{}, {BatchRows: 5}, {BatchRows: 1, Workers: 3}, {BatchRows: 2, Workers: 2}} {
				s := mustOpen(t, o, filepath.Base(path))
				names := 0
				for _, c := range s.Schema() {
					if c.Name == "number" {
						continue
					}
					names++
					if !slices.Equal(c.Shape, shapes[c.Name]) {
						t.Errorf("rows of %q have the shape %v, want %v", c.Name, c.Shape, shapes[c.Name])
					}
				}
				if names < 10 {
					t.Fatalf("%d columns of lists: %v", names, s.Schema().Names())
				}
				got := all(s)
				if got.Err != "" || len(got.Rows) != 12 {
					t.Fatal(got.Err, len(got.Rows))
				}
				for name, v := range got.Tensors {
					if diff := cmp.Diff(want.Tensors[name], v); diff != "" {
						t.Errorf("%+v, column %q: %s", o, name, diff)
					}
				}
			}
			survey, err := Look(t.Context(), []string{path}, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, cut := range [][2]int64{{0, 4}, {4, 5}, {5, 12}, {11, 12}} {
				s, err := survey.Open(t.Context(), cut[0], cut[1], &Options{BatchRows: 3})
				if err != nil {
					t.Fatal(err)
				}
				for name, v := range all(s).Tensors {
					w := want.Tensors[name]
					width := int64(len(w) / 12)
					if diff := cmp.Diff(w[cut[0]*width:cut[1]*width], v); diff != "" {
						t.Errorf("rows %v, column %q: %s", cut, name, diff)
					}
				}
			}
		})
	}
}

// TestSingleLists: a list of one number is that number, missing where it is null or has one; list views are refused with the way out.
func TestSingleLists(t *testing.T) {
	for _, file := range []string{"single.parquet", "single.arrow"} {
		s := mustOpen(t, &Options{NA: data.NAKeep, BatchRows: 2, Factors: []string{"fixed"}}, file)
		if c, ok := s.Schema().Lookup("list"); !ok || !c.Numeric || c.Width != 0 {
			t.Errorf("%s: %+v", file, c)
		}
		var list, fixed []float64
		var levels string
		for b, err := range s.Batches(t.Context(), []string{"fixed", "list"}) {
			if err != nil {
				t.Fatal(file, err)
			}
			x, errX := b.Numeric("list")
			y, errY := b.Numeric("fixed")
			text, err := b.Texts("fixed")
			if err := errors.Join(errX, errY, err); err != nil {
				t.Fatal(file, err)
			}
			list, fixed = append(list, x...), append(fixed, y...)
			for i := range y {
				levels += text(i) + " "
			}
		}
		if got := fmt.Sprint(list, fixed, levels); got != "[0.5 NaN 1.5 NaN 2.5] [0.5 1 1.5 2 2.5]0.5 1 1.5 2 2.5 " {
			t.Errorf("%s: %s", file, got)
		}
		if err := drain(mustOpen(t, nil, file), "list"); !errors.Is(err, data.ErrMissingValue) {
			t.Errorf("%s: %v", file, err)
		}
	}
	for name, kind := range map[string]string{"view": "a list view", "large": "a large list view"} {
		err := drain(mustOpen(t, nil, "single.arrow"), name)
		if want := "is " + kind + ", which is neither numbers nor text: store it as a list (pyarrow"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// TestListsUnequal: a row of another shape is an error with its number and length; columns that hold no tensor say why.
func TestListsUnequal(t *testing.T) {
	wants := map[string]string{
		"flat":   `row 4, column "flat": cell "a list of 4 numbers" is a row of another shape than the first, of 6 numbers: `,
		"nested": `row 6, column "nested": cell "a list of 7 numbers" is a row of another shape than the first, of 6 numbers (2 x 3): `,
		"late":   `row 2, column "late": cell "a list of 0 numbers" is a row of another shape than the first, of 6 numbers: `,
		"long":   `row 11, column "long": cell "a list of 8 numbers" is a row of another shape than the first, of 7 numbers: `,
		"ragged": `unequal`,
		"big":    `row 4, column "big": cell "9007199254740993" is a whole number beyond 2^53, which would be rounded; store the numbers as double`,
		"words":  `a list of what is no number`,
		"pairs":  `its parts as columns of their own`,
		"none":   `without a number in any row: leave it out`,
	}
	for _, file := range []string{"list_unequal.parquet", "list_unequal.arrow"} {
		for name, want := range wants {
			for _, rows := range []int{0, 1, 5} {
				err := drain(mustOpen(t, &Options{BatchRows: rows}, file), name)
				if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), fmt.Sprintf("column %q", name)) {
					t.Errorf("%s, %q, batches of %d: %v, want %q", file, name, rows, err, want)
				}
			}
		}
	}
}

// TestListsLate: rows with missing lists do not hide the shape of the lists that come later.
func TestListsLate(t *testing.T) {
	want := all(mustOpen(t, nil, "lists.npz"))
	for _, file := range []string{"list_late.parquet", "list_late.arrow"} {
		s := mustOpen(t, &Options{NA: data.NADrop}, file)
		if got, _ := s.Schema().Lookup("nested"); !slices.Equal(got.Shape, []int{2, 3}) {
			t.Errorf("%s: shape %v", file, got.Shape)
		}
		if err := drain(s, "flat"); err == nil || !strings.Contains(err.Error(), `row 3, column "flat": cell "a list of 0 numbers"`) {
			t.Errorf("%s: %v", file, err)
		}
		survey, err := Look(t.Context(), []string{filepath.Join(golden, file)}, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		tail, err := survey.Open(t.Context(), 3, 12, &Options{NA: data.NADrop, BatchRows: 4})
		if err != nil {
			t.Fatal(err)
		}
		got := all(tail)
		for name := range got.Tensors {
			if diff := cmp.Diff(want.Tensors[name][4*6:], got.Tensors[name]); diff != "" {
				t.Errorf("%s, %q: %s", file, name, diff)
			}
		}
		if len(got.Tensors) != 2 || got.Err != "" {
			t.Errorf("%s: %d columns, %s", file, len(got.Tensors), got.Err)
		}
	}
	two := mustOpen(t, nil, "lists_snappy.parquet", "lists_v2.parquet")
	if got := all(two); got.Err != "" || len(got.Tensors["deep"]) != 2*12*6 {
		t.Errorf("two files: %s, %d numbers", got.Err, len(got.Tensors["deep"]))
	}
}

// drain reads a column to its end, or the first error.
func drain(s data.Source, column string) error {
	for _, err := range s.Batches(context.Background(), []string{column}) {
		if err != nil {
			return err
		}
	}
	return nil
}

package data_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/data"
)

// firstError reads all of a column of text given as CSV.
func firstError(t *testing.T, text, column string, o data.CSVOptions) error {
	t.Helper()
	o.Stdin = strings.NewReader(text)
	src, err := data.OpenCSV([]string{"-"}, &o)
	if err != nil {
		return err
	}
	t.Cleanup(func() { src.Close() })
	for _, err := range src.Batches(context.Background(), []string{column}) {
		if err != nil {
			return err
		}
	}
	return nil
}

// A program tells by the error what it may do about it.
func TestErrorsAreTyped(t *testing.T) {
	late := "x\n" + strings.Repeat("1\n", 4096) + "high\n"
	cases := map[string]struct {
		err error
		is  error // nil: neither
	}{
		"empty":            {firstError(t, "x,y\n1,2\n,3\n", "x", data.CSVOptions{}), data.ErrMissingValue},
		"missing in text":  {firstError(t, "x\na\nNA\n", "x", data.CSVOptions{}), data.ErrMissingValue},
		"text late":        {firstError(t, late, "x", data.CSVOptions{}), data.ErrText},
		"infinite":         {firstError(t, "x\n1\nInf\n", "x", data.CSVOptions{}), nil},
		"malformed":        {firstError(t, "x,y\n1,2\n3\n", "x", data.CSVOptions{}), nil},
		"not UTF-8":        {firstError(t, "x\na\n\xff\n", "x", data.CSVOptions{}), nil},
		"text as a number": {textAsNumber(), data.ErrText},
	}
	for name, c := range cases {
		for _, sentinel := range []error{data.ErrMissingValue, data.ErrText} {
			if c.err == nil || errors.Is(c.err, sentinel) != (sentinel == c.is) {
				t.Errorf("%s: errors.Is(%v, %v) should be %v", name, c.err, sentinel, sentinel == c.is)
			}
		}
		var cell *data.CellError
		if at := errors.As(c.err, &cell); at != (name != "text as a number") || at && cell.File != "-" {
			t.Errorf("%s: %v does not say where the cell is", name, c.err)
		}
	}
}

func textAsNumber() error {
	b := data.NewBatch(1, 0)
	if err := b.SetCodes("g", data.Codes{Index: []int32{0}, Levels: []string{"a"}}); err != nil {
		return err
	}
	_, err := b.Numeric("g")
	return err
}

func TestMissingColumn(t *testing.T) {
	schema := data.Schema{{Name: "temperature"}, {Name: "hour"}}
	err := fmt.Errorf("reading: %w", schema.Require("the table", []string{"hour", "temprature"}))
	var missing *data.MissingColumnError
	if !errors.As(err, &missing) {
		t.Fatal(err)
	}
	if missing.Column != "temprature" || missing.Where != "the table" || missing.Nearest() != "temperature" || !slices.Equal(missing.Columns, schema.Names()) {
		t.Errorf("%+v", missing)
	}
	b := data.NewBatch(1, 0)
	_, err = b.Codes("hour")
	if !errors.As(err, &missing) || err.Error() != `data: no column "hour" in this batch` || missing.Nearest() != "" {
		t.Error(err)
	}
}

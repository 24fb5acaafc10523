package data

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// oneByOne reads as Batches does, record by record by package encoding/csv in one goroutine:
// what Batches is held against.
func (c *CSV) oneByOne(columns []string) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		p, err := c.newPass(context.Background(), columns)
		for i := 0; err == nil && i < len(c.inputs); i++ {
			err = p.fileOneByOne(c.inputs[i], yield)
		}
		if err == nil {
			err = p.flush(yield)
		}
		if err != nil && err != errStopped {
			yield(nil, err)
		}
	}
}

func (p *pass) fileOneByOne(in *input, yield func(*Batch, error) bool) error {
	r, err := openRecords(p.ctx, in, p.csv.comma, p.csv.limits)
	if err != nil {
		return err
	}
	defer r.close()
	if err := p.find(r); err != nil {
		return err
	}
	for {
		record, err := r.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := p.add(r, record, yield); err != nil {
			return err
		}
	}
}

// judge compares a text's rows and errors with those read record by record, whatever the
// blocks and the number of goroutines. It reports whether the text could be opened.
func judge(t rapid.TB, text []byte, o CSVOptions, l limits, block, workers int, factors bool) bool {
	open := func(l limits, workers int) (*CSV, error) {
		o := o
		o.Stdin, o.Workers = bytes.NewReader(text), workers
		c, err := openCSV([]string{"-"}, &o, l)
		if err == nil && factors {
			err = c.setFactors(c.Schema().Names())
		}
		return c, err
	}
	l.kinds = 1 // so that faults are left to the passes
	slow, err := open(l, 1)
	if err != nil {
		return false
	}
	defer slow.Close()
	l.block = block
	fast, err := open(l, workers)
	if err != nil {
		t.Fatal(err)
	}
	defer fast.Close()
	names := slow.Schema().Names()
	for _, columns := range [][]string{names[len(names)/2:], names, names[:1], nil} {
		want := flatten(slow.oneByOne(columns))
		if d := cmp.Diff(want, flatten(fast.Batches(context.Background(), columns))); d != "" {
			t.Errorf("%q, columns %q: %s", text, columns, d)
		}
	}
	return true
}

// cellsOfAnyKind are what cells of files hold: numbers as people and programs write them,
// marks of missing values, text, quotes in their places and out of them.
var cellsOfAnyKind = []string{
	"1", "-2.5", "0.1", "1e5", "1E-3", "+3", ".5", "7.", "-0", "12345678901234567890", "0.123456789012345678901234567890", "1e400", "0x10", "1_0", "  4 ", "\t5",
	"9007199254740993", "1.7976931348623157e308", "inf", "-Inf", "", " ", "NA", "nan", "NaN", "null", "Null", "na", "\"\"", "\"NA\"",
	"a", "b", "a b", "\"a\"", "\"1.5\"", "\" 2\"", "\"a,b\"", "\"a\nb\"", "\"a\r\nb\"", "\"\n\n\"", "\"he said \"\"no\"\"\"", "\"\"\"\"", "\"\r\"", "\"a\r\"", "\r", "ä", "\xff", "1.", "-", "--1", "1e", "1 2",
	"a\"", "\"a\"b", "\"open", "a\"b\"", "\x00", "\"a\" ", " \"a\"",
}

// tables draws the text of a table, most of whose cells are of one kind by column, so that
// many rows are read before something is wrong.
func tables() *rapid.Generator[[]byte] {
	return rapid.Custom(func(t *rapid.T) []byte {
		width := rapid.IntRange(1, 4).Draw(t, "width")
		ends := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "ends")
		comma := rapid.SampledFrom([]string{",", ",", ",", ";"}).Draw(t, "comma")
		kinds := make([][]string, width)
		header := make([]string, width)
		for i := range kinds {
			kinds[i] = rapid.SliceOfN(rapid.SampledFrom(cellsOfAnyKind), 1, 5).Draw(t, "cells")
			header[i] = fmt.Sprintf("c%d", i)
		}
		var b strings.Builder
		b.WriteString(rapid.SampledFrom([]string{"", "", "\xef\xbb\xbf", "\n"}).Draw(t, "mark"))
		b.WriteString(strings.Join(header, comma) + ends)
		for range rapid.IntRange(0, 12).Draw(t, "rows") {
			switch rapid.IntRange(0, 19).Draw(t, "line") {
			case 0:
				b.WriteString(ends) // a blank line
			case 1:
				b.WriteString(rapid.SampledFrom([]string{"1", "1,2,3,4,5", "\r\r\n", ",", " \n", "\"", "\n\n\n"}).Draw(t, "wild") + ends)
			default:
				row := make([]string, width)
				for i := range row {
					row[i] = rapid.SampledFrom(kinds[i]).Draw(t, "cell")
				}
				b.WriteString(strings.Join(row, comma) + ends)
			}
		}
		b.WriteString(rapid.SampledFrom([]string{"", "", "\n", "1", "1,2\r", "\"x"}).Draw(t, "end"))
		return []byte(b.String())
	})
}

// TestCSVJudge: wild tables, cut into blocks of any size and parsed by any number of
// goroutines, are those that are read record by record.
func TestCSVJudge(t *testing.T) {
	opened, tried := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			tried++
			if judgeOne(t) {
				opened++
			}
		}
	})
	if opened < tried/4 {
		t.Errorf("only %d of %d texts could be opened", opened, tried)
	}
}

// judgeOne draws a table and how it is read.
func judgeOne(t *rapid.T) bool {
	o := CSVOptions{NA: NAPolicy(rapid.IntRange(0, 2).Draw(t, "na")), BatchRows: rapid.IntRange(1, 5).Draw(t, "batch"), Delimiter: rapid.SampledFrom([]rune{',', ',', ';'}).Draw(t, "comma")}
	l := defaultLimits()
	if rapid.IntRange(0, 3).Draw(t, "small") == 0 {
		l.record, l.columns = rapid.IntRange(1, 30).Draw(t, "record"), rapid.IntRange(1, 6).Draw(t, "columns")
		l.dictionary = int64(rapid.IntRange(0, 6*levelOverhead).Draw(t, "dictionary"))
	}
	text := tables().Draw(t, "text")
	block := rapid.IntRange(1, len(text)+20).Draw(t, "block")
	return judge(t, text, o, l, block, rapid.IntRange(1, 3).Draw(t, "workers"), rapid.Bool().Draw(t, "factors"))
}

// TestCSVJudgeCases has what a drawn table shows too rarely, cut everywhere.
func TestCSVJudgeCases(t *testing.T) {
	for text, record := range map[string]int{
		"a,b\n1,2\n3,4,5\n6,7\n":                               0,
		"a,b\r\n\"1\",2\r\n3,\"4\"\r\n5,\"x\"\r\n":             0,
		"a\n1\n234567890123\n4\n":                              10,
		"a,b\n1,2\n\n\n3,45678901234567890\n":                  12,
		"a,b\n1,2\n\n\r\n3,4\"\n":                              0,
		"g,x\na,1\nb,NA\nc,2\nb,3\na,4\nb,5\nd,NA\n":           0,
		"a\n1\n\n\n2\n\n":                                      0,
		"a,b\n\"x\n\"\"y\"\"\n,z\",\"\n\"\n\"1\",\"2,3\"\nu,v": 0,
	} {
		l := defaultLimits()
		if record > 0 {
			l.record = record
		}
		for block := range len(text) + 1 {
			for _, na := range []NAPolicy{NAError, NADrop} {
				if !judge(t, []byte(text), CSVOptions{NA: na, BatchRows: 2, Delimiter: ','}, l, block+1, 2, false) && record == 0 {
					t.Fatalf("%q cannot be opened", text)
				}
			}
		}
	}
}

// TestCSVJudgeFiles: so are the files that the tests of all rooms have.
func TestCSVJudgeFiles(t *testing.T) {
	read := 0
	for _, dir := range []string{"../testdata", "../../shared/data"} {
		filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if info, failed := os.Stat(path); err != nil || failed != nil || info.Size() > 200_000 || !strings.Contains(path, ".csv") {
				return nil
			}
			c, err := OpenCSV([]string{path}, &CSVOptions{NA: NADrop, Workers: 2})
			if err != nil {
				return nil
			}
			defer c.Close()
			c.limits.block = 1000
			if d := cmp.Diff(flatten(c.oneByOne(c.Schema().Names())), all(c)); d != "" {
				t.Errorf("%s: %s", path, d)
			}
			read++
			return nil
		})
	}
	if read == 0 {
		t.Error("no file was read")
	}
	t.Logf("%d files", read)
}

// TestCSVWorkersEnd: goroutines end with the pass, whether it is read to its end, is broken
// off, finds a fault or its context ends.
func TestCSVWorkersEnd(t *testing.T) {
	write(t, map[string]string{"a": "x,y\n" + strings.Repeat("1,2\n", 20_000) + "3,oops\n" + strings.Repeat("1,2\n", 20_000)})
	l := defaultLimits()
	l.block = 1000
	before := runtime.NumGoroutine()
	c, err := openCSV([]string{"a"}, &CSVOptions{Workers: 3}, l)
	check(t, err)
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for name, read := range map[string]func() error{
		"to the end": func() error { return lastError(c.Batches(ctx, []string{"x"}), 1000) },
		"to a fault": func() error { return lastError(c.Batches(ctx, []string{"y"}), 1000) },
		"a batch":    func() error { return lastError(c.Batches(ctx, []string{"x"}), 1) },
		"cancelled": func() error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			for range c.Batches(ctx, []string{"x"}) {
				cancel()
			}
			return ctx.Err()
		},
	} {
		err := read()
		if wrong := name == "to a fault" || name == "cancelled"; wrong != (err != nil) {
			t.Errorf("%s: %v", name, err)
		}
		for i := 0; runtime.NumGoroutine() > before; i++ {
			if i == 100 {
				t.Fatalf("%s: %d goroutines, %d before", name, runtime.NumGoroutine(), before)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// lastError reads some batches.
func lastError(seq iter.Seq2[*Batch, error], batches int) (last error) {
	for _, err := range seq {
		last = err
		if batches--; batches == 0 {
			break
		}
	}
	return last
}

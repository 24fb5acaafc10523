package data

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestCSVWideBatchesAreShort: many columns make batches of fewer rows.
func TestCSVWideBatchesAreShort(t *testing.T) {
	write(t, map[string]string{"a": "x,y,z\n" + strings.Repeat("1,2,3\n", 5)})
	l := defaultLimits()
	l.cells = 7
	c, err := openCSV([]string{"a"}, &CSVOptions{BatchRows: 100}, l)
	check(t, err)
	defer c.Close()
	if d := cmp.Diff([]int{2, 2, 1}, all(c).Sizes); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int{5}, flatten(c.Batches(t.Context(), []string{"y"})).Sizes); d != "" {
		t.Error(d)
	}
}

// TestDictionaryAddsOnce: two passes may both find a cell unknown and add it.
func TestDictionaryAddsOnce(t *testing.T) {
	for numeric, want := range map[bool]string{true: "[0 1 0 0 1 2] [1 b c]", false: "[0 1 0 2 1 3] [1 b 1.0 c]"} {
		room := new(atomic.Int64)
		room.Store(1000)
		d := newDictionary(numeric, new(notation), room)
		var codes []int32
		for _, cell := range []string{"1", "b", "1", "1.0", "b", "c"} {
			l, ok := d.add(cell)
			if !ok {
				t.Fatalf("no room for %q", cell)
			}
			codes = append(codes, l.code)
		}
		if got := fmt.Sprint(codes, d.snapshot()); got != want {
			t.Errorf("numeric %v: got %s, want %s", numeric, got, want)
		}
	}
}

// TestBoundedDoesNotDependOnChunks compares with a reader that gets single
// bytes, and lets everything within the limits through unchanged.
func TestBoundedDoesNotDependOnChunks(t *testing.T) {
	bytewise := func(text string, l limits) (size int, fault bool) {
		size, cells, quoted := 0, 1, false
		for i := range len(text) {
			size++
			switch {
			case text[i] == '"':
				quoted = !quoted
			case quoted:
			case text[i] == ',':
				cells++
			}
			if size > l.record || cells > l.columns {
				return i, true
			}
			if text[i] == '\n' && !quoted {
				size, cells = 0, 1
			}
		}
		return len(text), false
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([a,\n]{0,12}|"[a,\n]{0,9}"|"){0,6}`).Draw(t, "text")
		l := limits{record: rapid.IntRange(1, 40).Draw(t, "record"), columns: rapid.IntRange(1, 5).Draw(t, "columns")}
		_, fault := bytewise(text, l)
		b := &bounded{ctx: context.Background(), r: strings.NewReader(text), comma: ',', limits: l}
		var got strings.Builder
		var err error
		for err == nil {
			p := make([]byte, rapid.IntRange(1, 9).Draw(t, "chunk"))
			var n int
			n, err = b.Read(p)
			got.Write(p[:n])
		}
		if fault != (err != io.EOF) || !strings.HasPrefix(text, got.String()) || !fault && got.String() != text {
			t.Errorf("%q: %v after %q; over the limits: %v", text, err, got.String(), fault)
		}
	})
}

// TestCSVMemory: what a small file claims does not make memory grow.
func TestCSVMemory(t *testing.T) {
	const mb = 1 << 20
	names := make([]string, 100_000)
	for i := range names {
		names[i] = "c" + strconv.Itoa(i)
	}
	write(t, map[string]string{
		"record": zip(t, "x\n"+strings.Repeat("a", 20*mb)),
		"quoted": zip(t, "x\n\""+strings.Repeat("a\n", 10*mb)),
		"cells":  zip(t, "x\n"+strings.Repeat(",", 20*mb)),
		"wide":   strings.Join(names, ",") + strings.Repeat("\n1"+strings.Repeat(",1", 99_999), 3),
	})
	for name, most := range map[string]uint64{"record": 160 * mb, "quoted": 160 * mb, "cells": 40 * mb, "wide": 140 * mb} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c, err := OpenCSV([]string{name}, &CSVOptions{BatchRows: 1 << 30})
		if err == nil {
			for _, err = range c.Batches(t.Context(), names) {
			}
			c.Close()
		}
		runtime.ReadMemStats(&after)
		if wrong := name != "wide"; wrong != (message(err) != "") {
			t.Errorf("%s: %v", name, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > most {
			t.Errorf("%s: %d MiB allocated", name, used/mb)
		} else {
			t.Logf("%s: %d MiB allocated in all", name, used/mb)
		}
	}
}

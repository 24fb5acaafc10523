package data

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// plain is everything a sequence of batches tells, without the cuts.
type plain struct {
	Rows    []int64
	Numbers map[string][]uint64 // bits: NaN equals NaN
	Codes   map[string][]int32
	Text    map[string][]string
	Tensors map[string][]float64
	Sizes   []int
	Err     string
}

func flatten(seq iter.Seq2[*Batch, error]) plain {
	p := plain{Numbers: map[string][]uint64{}, Codes: map[string][]int32{}, Text: map[string][]string{}, Tensors: map[string][]float64{}}
	for b, err := range seq {
		if p.Err != "" {
			p.Err += " and then more"
			break
		}
		if err != nil {
			p.Err = err.Error()
			continue
		}
		p.Sizes = append(p.Sizes, b.Rows())
		for i := range b.Rows() {
			p.Rows = append(p.Rows, b.Row(i))
		}
		for name, v := range b.numeric {
			for _, x := range v {
				p.Numbers[name] = append(p.Numbers[name], math.Float64bits(x))
			}
		}
		for name, c := range b.codes {
			for _, k := range c.Index {
				p.Codes[name] = append(p.Codes[name], k)
				p.Text[name] = append(p.Text[name], c.Levels[k])
			}
		}
		for name, m := range b.tensors {
			for i := range b.Rows() {
				p.Tensors[name] = append(p.Tensors[name], m.RawRowView(i)...)
			}
		}
	}
	return p
}

// uncut drops the sizes of the batches, which may differ.
func (p plain) uncut() plain {
	p.Sizes = nil
	return p
}

func (p plain) String() string {
	var s strings.Builder
	fmt.Fprintln(&s, p.Rows)
	for _, name := range slices.Sorted(maps.Keys(p.Numbers)) {
		v := make([]float64, len(p.Numbers[name]))
		for i, bits := range p.Numbers[name] {
			v[i] = math.Float64frombits(bits)
		}
		fmt.Fprintln(&s, name, v)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Text)) {
		fmt.Fprintf(&s, "%s %q %v\n", name, p.Text[name], p.Codes[name])
	}
	if p.Err != "" {
		fmt.Fprintln(&s, "error:", p.Err)
	}
	return s.String()
}

// all reads every column of a source.
func all(s Source) plain {
	return flatten(s.Batches(context.Background(), s.Schema().Names()))
}

// write puts the files into a new directory and makes it the working directory,
// so that messages are the same everywhere.
func write(t testing.TB, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

func mustOpen(t testing.TB, o *CSVOptions, paths ...string) *CSV {
	t.Helper()
	c, err := OpenCSV(paths, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func zip(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	w.Write([]byte(text))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

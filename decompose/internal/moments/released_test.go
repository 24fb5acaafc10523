package moments_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/decompose/internal/moments"
)

var writeSums = flag.String("write-formats", "", "`VERSION` whose sums to write into testdata/formats, if they are not there")

const formats = "../../../testdata/formats"

// sumOf is a sum of two blocks, written as version v of the format: odd versions hold
// products, even ones a factor, those above 2 IDs of the bases.
func sumOf(t *testing.T, v int) *moments.Sum {
	s := awkward(40, false, 50+uint64(v))
	s.layout.Factor = v%2 == 0
	for i := range s.layout.Bases {
		s.layout.Bases[i].ID = ""
		if v > 2 {
			s.layout.Bases[i].ID = fmt.Sprint("knots ", i)
		}
	}
	return sum(t, s.layout, s.leaves(t, 20), 0, 2)
}

// TestReleasedSumsAreRead: sums of every version of the format that this program reads
// are there, from each release that wrote it, and have the rows that were summed.
func TestReleasedSumsAreRead(t *testing.T) {
	least, last := versionsRead(t)
	if *writeSums != "" {
		for v := least; v <= last; v++ {
			path := filepath.Join(formats, *writeSums, fmt.Sprint("sum-", v))
			if _, err := os.Stat(path); err == nil {
				t.Fatalf("%s is there: what a release wrote does not change", path)
			}
			if err := os.WriteFile(path, marshal(t, sumOf(t, v)), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	for v := least; v <= last; v++ {
		files, err := filepath.Glob(filepath.Join(formats, "*.*.*", fmt.Sprint("sum-", v)))
		if err != nil || len(files) == 0 {
			t.Errorf("no release wrote version %d of the moments, which this program reads: %v", v, err)
		}
		want := sumOf(t, v).Total()
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := int(binary.LittleEndian.Uint16(data[4:])); got != v {
				t.Errorf("%s is of version %d", path, got)
			}
			var s moments.Sum
			if err := s.UnmarshalBinary(data); err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			if got := s.Total(); got.Rows != want.Rows || got.SumW != want.SumW || !got.Layout.Equal(want.Layout) {
				t.Errorf("%s: %d rows of weight %g, want %d of %g", path, got.Rows, got.SumW, want.Rows, want.SumW)
			}
		}
	}
}

// versionsRead are the first and the last version that this program reads, in its own
// words.
func versionsRead(t *testing.T) (first, last int) {
	data := marshal(t, sumOf(t, 1))
	binary.LittleEndian.PutUint16(data[4:], 0xffff)
	err := new(moments.Sum).UnmarshalBinary(data)
	if err == nil {
		t.Fatal("version 65535 is read")
	}
	_, told, _ := strings.Cut(err.Error(), "reads versions ")
	if n, _ := fmt.Sscanf(told, "%d to %d", &first, &last); n != 2 {
		t.Fatalf("no versions in %q", err)
	}
	return first, last
}

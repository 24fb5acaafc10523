package nam_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/nam"
)

// TestReplay: splines made from a recorded look equal splines made from the rows.
func TestReplay(t *testing.T) {
	m, tab := newNAM(3, 4, [2]int{0, 1}), rows(t, 400, 3, 0.3, 1)
	recorded, names := decompose.Recorded{}, []string(nil)
	decode := func(kind string, raw []byte) (decompose.Sums, error) {
		if kind == "nam/1" {
			return nam.DecodeSums(kind, raw)
		}
		return basis.DecodeSums(kind, raw)
	}
	for range 4 {
		got, _, err := nam.Prepare(t.Context(), m, tab, nam.Spline, &nam.Options{Scans: recorded})
		var needed *decompose.ScanNeeded
		if errors.As(err, &needed) {
			seen, err := needed.Accumulate(t.Context(), needed.Rows)
			must(t, err)
			raw, err := seen.MarshalBinary()
			must(t, err)
			recorded[needed.Name], err = decompose.DecodeScanned(raw, decode)
			must(t, err)
			names = append(names, needed.Name)
			continue
		}
		must(t, err)
		want, _, err := nam.Prepare(t.Context(), m, tab, nam.Spline, nil)
		must(t, err)
		splines := func(m decompose.Model) []byte {
			raw, err := decompose.EncodeBlocks([][]decompose.Block{slices.DeleteFunc(m.Blocks(0), func(b decompose.Block) bool { return b.Term.Kind() == decompose.Learned })})
			must(t, err)
			return raw
		}
		if !bytes.Equal(splines(got), splines(want)) || !slices.Equal(names, []string{"numbers of values", "splines", "splines 2"}) {
			t.Errorf("after the looks %q the splines are others", names)
		}
		return
	}
	t.Errorf("looks without end: %q", names)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

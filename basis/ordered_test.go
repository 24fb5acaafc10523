package basis_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// shown is a scanner of spec that has seen rows with these cells, of files that declare the orders.
func shown(t *testing.T, spec decompose.Spec, cells []string, orders ...[]string) decompose.Scanner {
	t.Helper()
	b := data.NewBatch(len(cells), 0)
	if _, err := b.SetTexts("g", cells, nil); err != nil {
		t.Fatal(err)
	}
	c, err := b.Codes("g")
	if err != nil {
		t.Fatal(err)
	}
	c.Declared = orders
	s := spec.Scanner()
	if err := b.SetCodes("g", c); err != nil {
		t.Fatal(err)
	}
	if err := s.Scan(b); err != nil {
		t.Fatal(err)
	}
	return s
}

// Levels are in the order that files declare, which their sums carry: shards give the same levels and
// the same bytes, whichever comes first. Orders that contradict each other are an error.
func TestDeclaredOrder(t *testing.T) {
	spec := basis.Factor("g", nil)
	low, part, back := []string{"low", "mid", "high"}, []string{"low", "high"}, []string{"high", "low"}
	a := func() decompose.Scanner { return shown(t, spec, []string{"high", "low", "high"}, part) }
	b := func() decompose.Scanner { return shown(t, spec, []string{"mid", "none", "low"}, low) }
	plain := func() decompose.Scanner { return shown(t, spec, []string{"high", "absent"}) }
	sums := func(s ...decompose.Scanner) []byte {
		t.Helper()
		var total decompose.Sums
		for _, next := range s {
			own, err := next.(decompose.SummingScanner).Sums()
			if err == nil && total != nil {
				err = total.Add(own)
			} else {
				total = own
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		raw, err := total.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	kind := func() string {
		own, err := shown(t, spec, []string{"low"}).(decompose.SummingScanner).Sums()
		if err != nil {
			t.Fatal(err)
		}
		return own.Kind()
	}()
	levels := func(raw []byte) ([]string, error) {
		t.Helper()
		read, err := basis.DecodeSums(kind, raw)
		if err != nil {
			t.Fatal(err)
		}
		s := spec.Scanner().(decompose.SummingScanner)
		if err := s.Restore(read); err != nil {
			t.Fatal(err)
		}
		blocks, err := s.Build()
		if err != nil {
			return nil, err
		}
		f := blocks[0].Term.(*basis.FactorTerm)
		if !f.Ordered() {
			t.Error("the term does not say that its levels have an order")
		}
		return f.Levels(), nil
	}
	one, other := sums(a(), b(), plain()), sums(plain(), b(), a())
	if !bytes.Equal(one, other) {
		t.Error("sums depend on which shard comes first")
	}
	got, err := levels(one)
	if want := []string{"low", "mid", "high", "absent", "none"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("levels %q, %v, want %q", got, err, want)
	}
	_, err = levels(sums(a(), shown(t, spec, []string{"low", "high"}, back)))
	if err == nil || !strings.Contains(err.Error(), `two orders, ["high" "low"] and ["low" "high"]`) {
		t.Errorf("orders that contradict each other: %v", err)
	}
}

package data

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func named(names ...string) (s Schema) {
	for _, n := range names {
		s = append(s, Column{Name: n})
	}
	return s
}

func TestRange(t *testing.T) {
	s := named("temp", "hum", "x2", "wind", "yr_0", "yr_1", "x0", "x1", "a..b", "p08", "p09", "p10", "c d", "e..f", "e")
	for _, c := range []struct {
		item, want, fault string
		no                bool // range
	}{
		{item: "temp..wind", want: "temp hum x2 wind"},
		{item: "temp .. hum", want: "temp hum"},
		{item: "temp..temp", want: "temp"},
		{item: "hum..yr_1", want: "hum x2 wind yr_0 yr_1"},
		{item: "x0..x2", want: "x0 x1 x2"}, // by number, wherever they stand
		{item: "yr_0..yr_1", want: "yr_0 yr_1"},
		{item: "p08..p10", want: "p08 p09 p10"},
		{item: "a..b", no: true}, // a column
		{item: "temp", no: true},
		{item: "a..b..c d", want: "a..b p08 p09 p10 c d"},
		{item: "c d..e..f", want: "c d e..f"},
		{item: "wind..temp", fault: `range "wind..temp": "wind" comes after "temp" in the data: write temp..wind`},
		{item: "tmp..wind", fault: `range "tmp..wind": there is no column "tmp"; did you mean "temp"?`},
		{item: "temp..winde", fault: `there is no column "winde"; did you mean "wind"?`},
		{item: "temp..nowhere_near", fault: `there is no column "nowhere_near": its ends are columns of the data`},
		{item: "x0..x3", fault: `range "x0..x3": there is no column "x3"; did you mean "x2"?`},
		{item: "x2..x0", fault: "the numbers must count up"},
		{item: "x0..x99999999999", fault: "the numbers must count up"},
		{item: "..", fault: "name the columns at both ends"},
		{item: "temp..", fault: "name the columns at both ends"},
		{item: "..temp", fault: "name the columns at both ends"},
	} {
		got, ok, err := s.Range(c.item)
		switch {
		case c.fault != "":
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%q: %v, want %s", c.item, err, c.fault)
			}
		case err != nil || ok == c.no || strings.Join(got, " ") != c.want:
			t.Errorf("%q: %q, %v, %v", c.item, got, ok, err)
		}
	}
}

// A range by order is the run of columns between its ends, wherever they have been moved; a
// range by number does not depend on the order.
func TestRangeFollowsTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"a", "b", "c", "d", "x0", "x1", "x2", "k..l"}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		s := named(names...)
		i, j := rapid.IntRange(0, len(names)-1).Draw(t, "i"), rapid.IntRange(0, len(names)-1).Draw(t, "j")
		first, last := names[i], names[j]
		numbered := first[0] == 'x' && last[0] == 'x'
		got, ok, err := s.Range(first + ".." + last)
		switch {
		case numbered && first <= last:
			if err != nil || !slices.IsSorted(got) || got[0] != first || got[len(got)-1] != last {
				t.Fatalf("%s..%s: %q, %v", first, last, got, err)
			}
		case numbered || i > j:
			if err == nil {
				t.Fatalf("%s..%s in %q: %q", first, last, names, got)
			}
		case !ok || err != nil || !slices.Equal(got, names[i:j+1]):
			t.Fatalf("%s..%s in %q: %q, %v", first, last, names, got, err)
		}
	})
}

func FuzzRange(f *testing.F) {
	f.Add("a..b", "a,b,c")
	f.Add("x0..x9999999", "x0")
	f.Add("a....b", "a..,b,a")
	f.Fuzz(func(t *testing.T, item, columns string) {
		s := named(strings.Split(columns, ",")...)
		got, ok, err := s.Range(item)
		if !ok && (got != nil || err != nil) {
			t.Errorf("%q is no range: %q, %v", item, got, err)
		}
		for _, name := range got {
			if _, there := s.Lookup(name); !there {
				t.Errorf("%q: no column %q", item, name)
			}
		}
	})
}

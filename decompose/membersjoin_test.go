package decompose_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/decompose"
)

// TestJoinRefuses: what is no set of networks of one task is refused by name.
func TestJoinRefuses(t *testing.T) {
	two := func(change func(f *fake)) []decompose.Member {
		return networks(2, 1, func(i int, f *fake) {
			if i == 1 {
				change(f)
			}
		})
	}
	for _, c := range []struct {
		members []decompose.Member
		want    string
	}{
		{networks(1, 1, nil), "1 networks"},
		{two(func(f *fake) { f.names = []string{"other"} }), `network "net1" has the predictors ["other"]`},
		{two(func(f *fake) { f.beta = nil }), `network "net1" has no term "x0"`},
		{two(func(f *fake) { f.withTap() }), `network "net1" has a term "f(x0)"`},
	} {
		if _, err := decompose.Join(c.members, decompose.Seeds); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	more := networks(2, 1, nil)
	more[1].Model = readsMore{more[1].Model}
	if m := join(t, more); !slices.Equal(m.Columns(), []string{"x0", "x1", "x2", "z"}) {
		t.Errorf("the networks read %q, and the second one z too", m.Columns())
	}
	if _, err := decompose.Join(networks(2, 1, nil), "moods"); err == nil {
		t.Error("networks that differ by moods are joined")
	}
	bad := two(func(f *fake) {
		f.deep = func(_ int, x []float64) float64 {
			if x[0] > 2 {
				return math.NaN()
			}
			return x[1]
		}
	})
	_, err := decompose.Decompose(context.Background(), join(t, bad), table(t, 300, 8), nil)
	if err == nil || !strings.Contains(err.Error(), `network "net1": data row`) {
		t.Errorf("NaN of one network: %v", err)
	}
}

// readsMore reads a column z too.
type readsMore struct{ decompose.Model }

func (m readsMore) Columns() []string { return append(slices.Clone(m.Model.Columns()), "z") }

// TestMembersTwice: the same network twice has no spread, and a band that is the
// projection's.
func TestMembersTwice(t *testing.T) {
	tab := table(t, 300, 9)
	one := networks(1, 1, nil)[0]
	m := join(t, []decompose.Member{one, {Name: "again", Model: one.Model}})
	r := fittedTo(t, m, tab, nil)
	a, err := r.Applier(m)
	if err != nil {
		t.Fatal(err)
	}
	e, err := a.Effect(context.Background(), 0, 0, all(t, tab, 300))
	if err != nil {
		t.Fatal(err)
	}
	if s := r.Predictors[0].Terms[0].BetweenSD; s.After > 1e-12 || s.Before > 1e-12 {
		t.Errorf("between sd %v", s)
	}
	agree(t, "half", e.Half(0.95)[:1], []float64{e.SE[0] * 1.959963984540054}, 1e-6)
}

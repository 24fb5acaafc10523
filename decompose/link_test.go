package decompose_test

import (
	"bytes"
	"testing"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

// TestLinks: the family's link is noted, what the network ends in takes its place, and a
// result that was written without links has the same ones once it is read.
func TestLinks(t *testing.T) {
	for _, c := range []struct {
		family family.Family
		head   string
		want   family.Link
	}{
		{nil, "", family.Link{}},
		{nil, "softplus(beta=2)+0.1", family.Link{Name: "softplus", Beta: 2, Shift: 0.1}},
		{family.Poisson{}, "", family.Link{Name: "log", Of: family.Mean}},
		{family.Poisson{}, "exp", family.Link{Name: "log", Of: family.Mean}},
		{family.AFT{}, "exp", family.Link{Name: "log"}},
		{family.Binomial{By: "cloglog"}, "", family.Link{Name: "cloglog", Of: family.Probability}},
		{family.Cox{}, "exp", family.Link{Name: "log hazard ratio", Of: family.HazardRatio}},
	} {
		r, _ := run(t, newFake(1), table(t, 100, 50), decompose.Options{})
		d := &r.Predictors[0]
		if c.family != nil {
			f := c.family
			if of, ok := f.(family.Shaped); ok { // of one predictor
				held, err := family.Hold(of, 0.5)
				if err != nil {
					t.Fatal(err)
				}
				f = held
			}
			l := f.Link(0)
			r.Family, d.Link = f.Name(), &l
		}
		r.SetHeads([]string{c.head})
		check := func(what string, l *family.Link) {
			t.Helper()
			if l == nil && c.want.Name != "" || l != nil && *l != c.want {
				t.Errorf("%s, %T that ends in %q: %+v, want %+v", what, c.family, c.head, l, c.want)
			}
		}
		check("new", d.Link)
		d.Link = nil
		doc, _ := encode(t, r)
		again, err := decompose.Read(bytes.NewReader(doc), nil, decodeFake)
		if err != nil {
			t.Fatal(err)
		}
		check("read", again.Predictors[0].Link)
		if got, want := again.Hazards(), c.want.Of == family.HazardRatio; got != want {
			t.Errorf("%T: hazards %v", c.family, got)
		}
	}
}

// TestFamilyLinks: a decomposition notes the links of its family.
func TestFamilyLinks(t *testing.T) {
	r, _ := run(t, newFake(1), table(t, 100, 50), decompose.Options{Columns: decompose.Columns{Response: "y"}, Family: family.Gaussian{}})
	if l := r.Predictors[0].Link; l == nil || *l != (family.Gaussian{}).Link(0) {
		t.Errorf("link %+v", l)
	}
}

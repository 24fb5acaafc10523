package interaction

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// column is a "network" whose predictors are columns of the data.
type columns []string

func (c columns) Predictors() []string         { return c }
func (c columns) Columns() []string            { return c }
func (c columns) Intercept(int) float64        { return 0 }
func (c columns) Blocks(int) []decompose.Block { return nil }
func (c columns) Taps() map[string]int         { return nil }
func (c columns) Forward(_ context.Context, dst *decompose.Outputs, b *data.Batch) error {
	for k, name := range c {
		v, err := b.Numeric(name)
		if err != nil {
			return err
		}
		dst.Zeta.SetCol(k, v)
		dst.Eta.SetCol(k, v)
	}
	return nil
}

// uniform draws from SplitMix64, as testdata/golden/interactions/interactions.py does.
type uniform uint64

func (u *uniform) next() float64 {
	*u += 0x9e3779b97f4a7c15
	x := uint64(*u)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return (float64((x^x>>31)>>11) + 0.5) / (1 << 53)
}

// normal is Box and Muller's.
func (u *uniform) normal() float64 {
	a, b := u.next(), u.next()
	return math.Sqrt(-2*math.Log(a)) * math.Cos(2*math.Pi*b)
}

// correlated draws n rows of p columns with the correlation rho between any two.
func correlated(seed uint64, n, p int, rho float64) [][]float64 {
	u := uniform(seed)
	x := make([][]float64, p)
	for j := range x {
		x[j] = make([]float64, n)
	}
	for i := range n {
		common := u.normal()
		for j := range p {
			x[j][i] = math.Sqrt(rho)*common + math.Sqrt(1-rho)*u.normal()
		}
	}
	return x
}

func names(p int) []string {
	out := make([]string, p)
	for j := range out {
		out[j] = fmt.Sprintf("x%d", j)
	}
	return out
}

// rows is a table of the columns and of predictors eta, eta1, ...
func rows(t testing.TB, x [][]float64, eta ...[]float64) *data.Table {
	t.Helper()
	tab := data.NewTable(len(x[0]))
	for j, v := range x {
		if err := tab.AddNumeric(fmt.Sprintf("x%d", j), v); err != nil {
			t.Fatal(err)
		}
	}
	for k, v := range eta {
		if err := tab.AddNumeric(etaName(k), v); err != nil {
			t.Fatal(err)
		}
	}
	return tab
}

func etaName(k int) string {
	if k == 0 {
		return "eta"
	}
	return fmt.Sprintf("eta%d", k)
}

// ranked decomposes the columns etas by the formula and ranks pairs of the columns.
func ranked(t testing.TB, tab data.Source, etas, among []string, formula string, o decompose.Options) *decompose.Result {
	t.Helper()
	r, err := rankedErr(tab, etas, among, formula, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func rankedErr(tab data.Source, etas, among []string, formula string, o decompose.Options) (*decompose.Result, error) {
	ctx := context.Background()
	f, err := basis.Parse(formula, &basis.Options{Schema: tab.Schema()})
	if err != nil {
		return nil, err
	}
	s := NewSample(among, o.Weights)
	blocks, err := decompose.Prepare(ctx, tab, append(f.Specs, s), nil)
	if err != nil {
		return nil, err
	}
	m, err := decompose.With(columns(etas), map[string][]decompose.Block{"": blocks})
	if err != nil {
		return nil, err
	}
	o.Visitors = append(o.Visitors, NewRanking(s).WithWorkers(o.Workers))
	return decompose.Decompose(ctx, m, tab, &o)
}

// smooths is a formula of unpenalised splines of p columns.
func smooths(p int) string {
	var terms []string
	for j := range p {
		terms = append(terms, fmt.Sprintf(`s(x%d, bs="cr", k=7, fx=TRUE)`, j))
	}
	return "~ " + strings.Join(terms, " + ")
}

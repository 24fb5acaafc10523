package decompose_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// outlierGolden is testdata/golden/outlier.json (README.md there).
type outlierGolden struct {
	Data  struct{ X, Z, Y []float64 }
	Rows  []int
	Cases []struct {
		Formula, BS string
		Chosen      struct{ SP, Score float64 }
		At          []struct {
			SP, Score, EDF float64
			Values         []float64
		}
	}
	Nearer []struct {
		Far, Score, EDF float64
		Formula         string
	}
}

func (g *outlierGolden) table(t *testing.T, rows []int) *data.Table {
	t.Helper()
	pick := func(v []float64) []float64 {
		if rows == nil {
			return v
		}
		return picked(v, rows)
	}
	tab := data.NewTable(len(pick(g.Data.X)))
	for name, v := range map[string][]float64{"x": g.Data.X, "z": g.Data.Z, "y": g.Data.Y} {
		if err := tab.AddNumeric(name, pick(v)); err != nil {
			t.Fatal(err)
		}
	}
	return tab
}

func readOutlier(t *testing.T) *outlierGolden {
	t.Helper()
	text, err := os.ReadFile("../testdata/golden/outlier.json")
	if err != nil {
		t.Fatal(err)
	}
	g := new(outlierGolden)
	if err := json.Unmarshal(text, g); err != nil {
		t.Fatal(err)
	}
	return g
}

// TestOneOutlier: a value of 1e9 among values from 0 to 1. Splines with knots at
// quantiles do not care; of P-splines nearly all functions have no row, and the fit is
// mgcv's all the same, on the route that Decompose takes by itself.
func TestOneOutlier(t *testing.T) {
	ctx := context.Background()
	g := readOutlier(t)
	tab := g.table(t, nil)
	points := all(t, g.table(t, g.Rows), len(g.Rows))
	for _, c := range g.Cases {
		t.Run(c.BS, func(t *testing.T) {
			f, err := basis.Parse(c.Formula, &basis.Options{Schema: tab.Schema()})
			if err != nil {
				t.Fatal(err)
			}
			blocks, err := decompose.Prepare(ctx, tab, f.Specs, nil)
			if err != nil {
				t.Fatal(err)
			}
			m, err := decompose.With(&responses{[]string{"eta"}, []string{"y"}}, map[string][]decompose.Block{"": blocks})
			if err != nil {
				t.Fatal(err)
			}
			tolerance := 1e-7
			switch c.BS {
			case "cc": // knots 1e9 apart: mgcv's own system of second derivatives
				tolerance = 1e-5
			case "cr", "cs": // mgcv takes differences of numbers of 1e9 next to such a knot (basis/internal/cubic has a test)
				tolerance = 1e-6
			}
			for _, at := range c.At {
				tolerance := tolerance
				if at.SP < 1e-16 { // the condition number of X'WX + S is beyond 1e16 there
					tolerance = max(tolerance, 1e-6)
				}
				r, err := decompose.Decompose(ctx, m, tab, &decompose.Options{Smoothing: decompose.Smoothing{SP: map[string][]float64{"s(x)": {at.SP}}}})
				if err != nil {
					t.Fatal(err)
				}
				d := r.Predictors[0]
				e, err := mustApplier(t, r, m).Effect(ctx, 0, 0, points)
				if err != nil {
					t.Fatal(err)
				}
				near(t, "edf", d.EDF, at.EDF, tolerance*at.EDF)
				near(t, "score", *d.Score, at.Score, tolerance*math.Abs(at.Score))
				for i, v := range at.Values {
					near(t, fmt.Sprintf("sp %g: value %d", at.SP, i), e.After[i], v, tolerance)
				}
			}
			r, err := decompose.Decompose(ctx, m, tab, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := *r.Predictors[0].Score; got > c.Chosen.Score+tolerance*math.Abs(c.Chosen.Score) {
				t.Errorf("the score chosen is %g, mgcv's %g", got, c.Chosen.Score)
			}
		})
	}
}

// TestChoiceNextToAnOutlier: the smoothing parameters of such columns are many orders
// of magnitude below those at which X'WX and the penalty balance.
func TestChoiceNextToAnOutlier(t *testing.T) {
	g := readOutlier(t)
	const outlier = 99
	for _, c := range g.Nearer {
		t.Run(fmt.Sprintf("%s at %g", c.Formula, c.Far), func(t *testing.T) {
			g.Data.X[outlier] = c.Far
			tab := g.table(t, nil)
			f, err := basis.Parse(c.Formula, &basis.Options{Schema: tab.Schema()})
			if err != nil {
				t.Fatal(err)
			}
			blocks, err := decompose.Prepare(context.Background(), tab, f.Specs, nil)
			if err != nil {
				t.Fatal(err)
			}
			m, err := decompose.With(&responses{[]string{"eta"}, []string{"y"}}, map[string][]decompose.Block{"": blocks})
			if err != nil {
				t.Fatal(err)
			}
			r, err := decompose.Decompose(context.Background(), m, tab, nil)
			if err != nil {
				t.Fatal(err)
			}
			d := r.Predictors[0]
			// Thin plates hold so few digits that scores differ by tenths.
			if *d.Score > c.Score+1 {
				t.Errorf("the score is %g (%s), mgcv's %g", *d.Score, d.Status, c.Score)
			}
			near(t, "edf", d.EDF, c.EDF, 0.2)
		})
	}
}

// TestThinPlatesOfAnOutlierAreRefused by name of the value, with what to do: mgcv
// refuses them on the same rows.
func TestThinPlatesOfAnOutlierAreRefused(t *testing.T) {
	tab := readOutlier(t).table(t, nil)
	for _, formula := range []string{"~ s(x)", `~ s(x, bs="ts") + z`, "~ s(x, z)", `~ te(x, z, bs="tp")`} {
		f, err := basis.Parse(formula, &basis.Options{Schema: tab.Schema()})
		if err != nil {
			t.Fatal(err)
		}
		_, err = decompose.Prepare(context.Background(), tab, f.Specs, nil)
		if err == nil || !strings.Contains(fmt.Sprint(err), "so far from all others") || !strings.Contains(err.Error(), "1e+09") {
			t.Errorf("%s: %v", formula, err)
		}
	}
}

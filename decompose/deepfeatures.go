package decompose

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/decompose/internal/projection"
)

// Deep says what the deep part of a predictor reads, where arrays are among it, pictures say: what is left of it is
// theirs, and no curve can tell it.
type Deep struct {
	Arrays  []Array  `json:"arrays"`
	Columns []string `json:"columns"` // of numbers or texts, which it reads with them
}

// Array is a column that holds an array in each row.
type Array struct {
	Column string `json:"column"`
	Kind   string `json:"kind"` // picture, sequence, array
}

// DeepFeatures says what the columns of all terms tell of features U of the deep part (Options.DeepFeatures): by least
// squares of each, and by canonical correlations (Hotelling 1936). It depends on the features' span and on no coefficient.
type DeepFeatures struct {
	Columns   []string `json:"columns"`    // that U depends on
	Width     int      `json:"width"`      // columns of U
	Rank      int      `json:"rank"`       // of U
	TermsRank int      `json:"terms_rank"` // of the terms' columns
	// Explained is the mean R2 of the columns of U that vary, each divided by its standard deviation, and ExplainedByChance
	// what as many unrelated columns as TermsRank would have.
	Explained         float64 `json:"explained"`
	ExplainedByChance float64 `json:"explained_by_chance"`
	// Functions are the linear functions of U that the terms tell best, five at most, of those whose R2 is 0.05 or more and more than
	// R2ByChance: that of the best one is less in 99 of 100 samples if U has nothing to do with the terms.
	Functions  []DeepFunction `json:"functions"`
	R2ByChance float64        `json:"r2_by_chance"`
}

// DeepFunction is a linear function of U.
type DeepFunction struct {
	R2    float64 `json:"r2"`
	Share float64 `json:"share"` // its part of Explained, which those of all functions add up to
	// With are the columns of terms and the share of its prediction's variance that their terms alone tell: of fewest columns
	// first, the largest share first.
	With []ColumnsShare `json:"with"`
}

// ColumnsShare is what terms of these columns tell of something.
type ColumnsShare struct {
	Columns []string `json:"columns"`
	Share   float64  `json:"share"`
}

// How many columns of terms and features are compared at most, and how many functions are told, with which R2 at least.
const (
	mostCompared  = 4096
	functionsTold = 5
	leastR2       = 0.05
)

// beside adds features of the deep part, whose products with the columns of all terms are formed.
func (p *plan) beside(m Model, features []*Tap) error {
	if len(features) == 0 {
		return nil
	}
	columns := 0
	var terms []int // of all predictors
	for i, t := range p.terms {
		if slices.ContainsFunc(p.predictors, func(d planned) bool { return slices.Contains(d.at, i) }) {
			terms, columns = append(terms, i), columns+t.Dim()
		}
	}
	if terms == nil {
		return errors.New("decompose: features of the deep part are to be compared with terms, and the model has none: add terms of the table's columns")
	}
	widths, all := m.Taps(), len(p.terms)
	for _, f := range features {
		if widths[f.Tensor] != f.Numbers() {
			return fmt.Errorf("decompose: features %q of %d numbers: the model has no such tap", f.Tensor, f.Numbers())
		}
		if n := columns + f.Width; n > mostCompared {
			return fmt.Errorf("decompose: %d columns of terms are to be compared with %d features %s: at most %d together are; use terms with fewer columns, or a tensor with fewer features", columns, f.Width, f.Name(), mostCompared)
		}
		p.add(f)
		p.deep = append(p.deep, p.index[f])
		p.layout.Predictors = append(p.layout.Predictors, append(slices.Clone(terms), p.index[f]))
	}
	if len(p.terms) != all+len(features) {
		return errors.New("decompose: features of the deep part are a term as well, or named twice: name each once, and no term")
	}
	return nil
}

// compared says what the terms tell of the features.
func (p *plan) compared(total *moments.Moments, o *Options) (out []DeepFeatures) {
	for i, f := range p.deep {
		v := total.Predictor(len(p.predictors) + i)
		out = append(out, p.comparison(p.terms[f].(*Tap), v, o))
	}
	return out
}

func (p *plan) comparison(f *Tap, v moments.View, o *Options) DeepFeatures {
	toleranceX := toleranceDefault
	var learned []bool
	var group []int // of each term: those of the same columns
	var with [][]string
	for _, i := range v.Bases[:len(v.Bases)-1] {
		t := p.terms[i]
		learned = append(learned, t.Kind() == Learned)
		if t.Kind() == Learned {
			toleranceX = toleranceLearned
		}
		g := slices.IndexFunc(with, func(c []string) bool { return slices.Equal(c, t.Columns()) })
		if g < 0 {
			g, with = len(with), append(with, t.Columns())
		}
		group = append(group, g)
	}
	if o.RankTolerance > 0 {
		toleranceX = math.Max(o.RankTolerance, minGramTolerance)
	}
	c := projection.CanonicalOf(v, append(learned, true), group, toleranceX, math.Max(toleranceX, toleranceLearned))
	n := float64(v.Positive)
	out := DeepFeatures{
		Columns: f.Features, Width: f.Width, Rank: c.RankU, TermsRank: c.RankX,
		Explained: c.Explained, ExplainedByChance: math.Min(1, float64(c.RankX)/math.Max(n-1, 1)),
		Functions: []DeepFunction{}, R2ByChance: projection.ChanceR2(c.RankX, c.RankU, n),
	}
	for _, own := range c.Functions[:min(len(c.Functions), functionsTold)] {
		if !(own.R2 > out.R2ByChance && own.R2 >= leastR2) {
			break
		}
		told := DeepFunction{R2: own.R2, Share: own.Share}
		for g, share := range own.Groups {
			told.With = append(told.With, ColumnsShare{with[g], share})
		}
		slices.SortStableFunc(told.With, func(a, b ColumnsShare) int {
			return cmp.Or(cmp.Compare(len(a.Columns), len(b.Columns)), cmp.Compare(b.Share, a.Share))
		})
		out.Functions = append(out.Functions, told)
	}
	return out
}

package basis

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// step makes n values 0, 1, ..., distinct-1, 0, 1, ...
func step(n, distinct int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i % distinct)
	}
	return x
}

func TestBuildRefuses(t *testing.T) {
	for _, c := range []struct {
		spec decompose.Spec
		x    []float64 // nil: nothing is scanned
		want string
	}{
		{Smooth("x", PS{}, nil), step(50, 7), `term s(x): column "x" has 7 distinct values, fewer than k = 10: set k = 7 or less`},
		{Smooth("x", CR{K: 20}, nil), step(50, 7), `term s(x): column "x" has 7 distinct values, fewer than k = 20: set k = 7 or less`},
		{Smooth("x", PS{}, nil), step(50, 3), `term s(x): column "x" has 3 distinct values, fewer than k = 10 (and this basis needs 4 at least): use the column itself or factor(x)`},
		{Smooth("x", CR{}, nil), step(50, 1), `term s(x): column "x" has 1 distinct value, 0, where k = 10 needs 10: leave the term out`},
		{Smooth("x", PS{}, nil), nil, `term s(x): no rows of column "x" were scanned`},
		{Smooth("x", PS{}, nil), []float64{1, 2, math.NaN()}, `term s(x): data row 103: column "x" is NaN: leave the row out or fill in a number`},
		{Smooth("x", CR{}, nil), []float64{1, math.Inf(-1), 3}, `term s(x): data row 102: column "x" is -Inf: leave the row out or fill in a number`},
		{Smooth("x", PS{Knots: []float64{0, 9}}, nil), step(50, 20), `term s(x): column "x" runs from 0 to 19, beyond the knots, which carry splines from -0.009 to 9.009: widen knots=`},
		{Smooth("x", PS{K: 4}, nil), []float64{-1e308, 0, 1, 2, 1e308}, `term s(x): column "x": the range from -1e+308 to 1e+308 is too wide or too narrow for 8 knots in 64-bit numbers: rescale the column`},
		{Smooth("x", PS{K: 5}, nil), []float64{1e16, 1e16 + 2, 1e16 + 4, 1e16 + 6, 1e16 + 8}, ""},
		{Smooth("x", PS{K: 30}, nil), near(1e16, 40), ""},
		{Smooth("x", CR{K: 5}, nil), []float64{0, 1e-310, 2e-310, 3e-310, 4e-310, 5e-310}, `term s(x): column "x": the knots are too wide or too close for 64-bit numbers: rescale the column`},
		{Smooth("x", PS{K: 5}, nil), []float64{0, 1e-310, 2e-310, 3e-310, 4e-310, 5e-310}, `term s(x): column "x": the knots are too wide or too close for 64-bit numbers: rescale the column`},
		{Smooth("x", Stepped{CR{K: 5}, []float64{3, 20}}, nil), step(50, 20), `term s(x): column "x" goes from 0 to 19, and cuts from 3 to 20 do not all part it: give cuts above the least value and not above the greatest`},
		{Smooth("x", Stepped{CR{K: 5}, []float64{0, 3}}, nil), step(50, 20), `term s(x): column "x" goes from 0 to 19, and cuts from 0 to 3 do not all part it: give cuts above the least value and not above the greatest`},
		{Smooth("x", Stepped{CR{K: 5}, []float64{3, 3}}, nil), nil, `term s(x): cut 2 (3) is not greater than the one before (3): cuts must increase`},
		{Smooth("x", Stepped{CC{K: 5}, []float64{3}}, nil), nil, `term s(x): a cyclic smooth such as bs = "cc" has no cuts: its ends are one point`},
		{Smooth("x", Stepped{CR{K: 5}, nil}, nil), nil, `term s(x): cuts has no number: give the values at which the function may jump`},
		{Smooth("x", nil, nil), step(9, 3), "term s(x): no basis is given; there are " + enumerate(ownNames())},
		{Smooth("", PS{}, nil), nil, `term s(): the column's name is empty`},
		{Smooth("a\xff", PS{}, nil), nil, "term s(a\xff): the column's name \"a\\xff\" is not UTF-8: rename it"},
		{Smooth("x", PS{}, &SmoothOptions{ByFactor: true}), nil, `term s(x): ByFactor without a By column`},
		{Smooth("x", PS{}, &SmoothOptions{SP: []float64{math.NaN()}}), nil, `term s(x): the smoothing parameter is NaN`},
		{Smooth("x", PS{M: []int{20, 1}}, nil), nil, `term s(x): m1 = 20: ps takes 0 (broken lines), 1, 2 (cubic) to 9`},
		{Smooth("x", CR{Knots: []float64{0, math.NaN(), 1}}, nil), nil, `term s(x): knot 2 is NaN`},
		{Smooth("y", PS{}, nil), step(9, 3), `term s(y): data: no column "y" in this batch`},
		{Smooth("x", PS{K: 4}, &SmoothOptions{By: "y"}), step(9, 5), `term s(x):y: data: no column "y" in this batch`},
		{Smooth("x", PS{K: 4}, &SmoothOptions{By: "x", ByFactor: true}), step(1500, 1200), `term s(x):x: column "x" has more than 1000 levels: each would have a smooth of its own`},
		{Factor("x", nil), step(50, 1), `term x: column "x" has one level only, "0": leave the term out`},
		{Factor("x", &FactorOptions{Label: "factor(x)"}), nil, `term factor(x): no rows were scanned for the levels of column "x"`},
		{Factor("x", nil), step(100_001, 100_001), `term x: column "x" has more than 100000 levels: is it a number rather than a category? Use the column itself or a smooth of it`},
		{Factor("x", nil), []float64{1, math.NaN()}, `term x: data row 102: column "x" is NaN: leave the row out or fill in a number`},
		{Factor("y", nil), step(9, 3), `term y: data: no column "y" in this batch`},
		{Linear(""), nil, `term : the column's name is empty`},
	} {
		got := ""
		if err := scanAndBuild(c.spec, c.x); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// near makes n neighbouring floating-point numbers from x upwards.
func near(x float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = x
		x = math.Nextafter(x, math.Inf(1))
	}
	return out
}

func scanAndBuild(spec decompose.Spec, x []float64) error {
	s := spec.Scanner()
	if x != nil {
		b := data.NewBatch(len(x), 100)
		if err := b.SetNumeric("x", x); err != nil {
			return err
		}
		if err := s.Scan(b); err != nil {
			return err
		}
	}
	_, err := s.Build()
	return err
}

func TestEvalRefuses(t *testing.T) {
	fit := sample(t, 50, 1)
	build := func(s decompose.Spec) decompose.Term { return mustBuild(t, s, fit)[0].Term }
	rows := func(change func(b *data.Batch)) *data.Batch {
		b := sample(t, 3, 2).Slice(0, 3)
		must(t, b.SetRows([]int64{4, 6, 7}))
		change(b)
		return b
	}
	text := rows(func(b *data.Batch) { must(t, b.SetCodes("g", encode([]string{"low", "so so", "mid"}))) })
	number := rows(func(b *data.Batch) { must(t, b.SetNumeric("h", []float64{0, 1, 2.5})) })
	hole := rows(func(b *data.Batch) {
		must(t, b.SetNumeric("x", []float64{0, 1, math.NaN()}))
		must(t, b.SetNumeric("z", []float64{0, math.Inf(1), 1}))
	})
	broken := rows(func(b *data.Batch) {
		must(t, b.SetCodes("g", data.Codes{Index: []int32{0, 9, 0}, Levels: []string{"low"}}))
	})
	nothing := data.NewBatch(3, 0)
	unseen := `level %s did not occur in the data the term was made from (%s): leave such rows out, or decompose again on data that have this level`
	for _, c := range []struct {
		term decompose.Term
		b    *data.Batch
		want string
	}{
		{build(Factor("g", nil)), text, `term g: data row 7: ` + fmt.Sprintf(unseen, `"so so" of column "g"`, `"high", "low", "mid"`)},
		{build(Factor("h", &FactorOptions{Label: "factor(h)"})), number, `term factor(h): data row 8: ` + fmt.Sprintf(unseen, `"2.5" of column "h"`, `"0", "1", "2", "3"`)},
		{build(Smooth("x", PS{}, &SmoothOptions{By: "g"})), text, `term s(x):ghigh: data row 7: ` + fmt.Sprintf(unseen, `"so so" of column "g"`, `"high", "low", "mid"`)},
		{build(Factor("g", nil)), broken, `term g: data row 7: column "g" has code 9, outside its 1 levels`},
		{build(Smooth("x", CR{}, nil)), hole, `term s(x): data row 8: column "x" is NaN: leave the row out or fill in a number`},
		{build(Smooth("x", PS{}, &SmoothOptions{By: "z"})), hole, `term s(x):z: data row 7: column "z" is +Inf: leave the row out or fill in a number`},
		{build(Smooth("x", PS{}, nil)), nothing, `term s(x): data: no column "x" in this batch`},
		{build(Factor("g", nil)), nothing, `term g: data: no column "g" in this batch`},
	} {
		err := c.term.Eval(mat.NewDense(3, c.term.Dim(), nil), c.b)
		if err == nil || err.Error() != c.want {
			t.Errorf("Eval:\n%v\nwant\n%s", err, c.want)
		}
		if s, ok := c.term.(decompose.SparseTerm); ok {
			if _, err := s.EvalSparse(c.b); err == nil || err.Error() != c.want {
				t.Errorf("EvalSparse:\n%v\nwant\n%s", err, c.want)
			}
		}
	}
	term := build(Smooth("x", PS{}, nil))
	if err := term.Eval(mat.NewDense(2, 10, nil), text); err == nil || err.Error() != "term s(x): the destination is 2 x 10, want 3 x 10" {
		t.Errorf("wrong shape: %v", err)
	}
	many := make([]string, 0, 8)
	for _, r := range "abcdefgh" {
		many = append(many, string(r))
	}
	l, err := newLevels("g", many)
	must(t, err)
	if err := l.unseen("g", "z", 0); !strings.Contains(err.Error(), `("a", "b", "c", "d", "e", ... (8 in all))`) {
		t.Error(err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct{ kind, spec, want string }{
		{"tensor", `{}`, `basis: the spec of a tensor term: the tensor product "" is not known to this version, which has te and ti`},
		{"tensor", `{"call": "te", "margins": []}`, `basis: the spec of a tensor term: a tensor product without margins`},
		{"tensor", `{"call": "te", "margins": [{"bs": "re", "columns": ["g"]}]}`, `basis: the spec of a tensor term: a margin re needs one column and its levels`},
		{"tensor", `{"call": "te", "margins": [{"bs": "cc", "columns": ["x"], "knots": [1, 2, 3]}]}`, `basis: the spec of a tensor term: 3 knots: a cc basis has 4 to 1000`},
		{"tensor", `{"call": "te", "margins": [{"bs": "cr", "columns": ["x"], "knots": [1, 2, 3]}, {"bs": "cr", "columns": ["x"], "knots": [1, 2, 3]}]}`, `basis: the spec of a tensor term: column "x" is there twice`},
		{"tensor", `{"call": "te", "margins": [{"bs": "quux", "columns": ["x", "z"]}]}`, `basis: the spec of a tensor term: basis "quux" of several columns is not known to this version`},
		{"random", `{"name": "s(g)", "cells": []}`, `basis: the spec of a random term: it has no columns`},
		{"random", `{"name": "s(g)", "factors": [{"column": "g", "levels": ["a"]}], "cells": [[1]]}`, `basis: the spec of a random term: combination 1 has level 1 of column "g", which has 1`},
		{"factor", `{"name": "g:h", "factors": [{"column": "g", "levels": ["a", "b"], "contrast": true}], "cells": [[0]]}`, `basis: the spec of a factor term: combination 1 has level 0 of column "g", which has 2`},
		{"linear", `{"name": "x:z", "numbers": ["x", "z"], "cells": [[], []]}`, `basis: the spec of a linear term: combination 2 is there twice`},
		{"random", `{"column": "x", "factor": "g", "levels": ["a", "b"], "smooth": {"bs": "cr", "column": "", "knots": [1, 2, 3]}, "map": ""}`, `basis: the spec of a random term: the parametrisation has 0 numbers for 3 basis functions`},
		{"smooth", `{"column": "x", "bs": "cp", "degree": 3, "knots": [1, 2, 3]}`, `basis: the spec of a smooth term: 3 knots for periodic splines of degree 3: 5 to 991 are possible`},
		{"smooth", `{"column": "x", "bs": "cc", "degree": 3, "knots": [1, 2, 3, 4]}`, `basis: the spec of a smooth term: a cc basis has no degree`},
		{"mystery", `{}`, `basis: terms of kind "mystery" are not known to this version: was the file written by a newer one?`},
		{"linear", `{}`, `basis: the spec of a linear term: the column's name is empty`},
		{"linear", `{"column": 3}`, `basis: the spec of a linear term: json: cannot unmarshal number into Go struct field .column of type string`},
		{"linear", `{"column": "x"} 1`, `basis: the spec of a linear term: something follows the JSON value`},
		{"linear", `{"column": "x", "degree": 2}`, `basis: the spec of a linear term: json: unknown field "degree"`},
		{"linear", ``, `basis: the spec of a linear term: EOF`},
		{"learned", `{"tensor": "t", "width": 0}`, `basis: the spec of a learned term: a width of 0: 1 to 1000000 are possible`},
		{"learned", `{"width": 1}`, `basis: the spec of a learned term: it names no tensor`},
		{"factor", `{"levels": ["a", "b"]}`, `basis: the spec of a factor term: it names no column`},
		{"factor", `{"column": "g", "levels": ["a"]}`, `basis: the spec of a factor term: column "g" has one level only, "a": leave the term out`},
		{"factor", `{"column": "g"}`, `basis: the spec of a factor term: column "g" has no levels`},
		{"factor", `{"column": "g", "levels": ["a", "b", "a"]}`, `basis: the spec of a factor term: level "a" of column "g" is listed twice`},
		{"smooth", `{"column": "x", "bs": "tp", "knots": [1]}`, `basis: the spec of a smooth term: a thin plate spline without its points`},
		{"smooth", `{"column": "x", "bs": "cr", "knots": [1, 2]}`, `basis: the spec of a smooth term: 2 knots: a cr basis has 3 to 1000`},
		{"smooth", `{"column": "x", "bs": "cr", "degree": 3, "knots": [1, 2, 3]}`, `basis: the spec of a smooth term: a cr basis has no degree`},
		{"smooth", `{"column": "x", "bs": "cr", "knots": [1, 3, 2]}`, `basis: the spec of a smooth term: knot 3 (2) is not greater than the one before (3): knots must increase`},
		{"smooth", `{"column": "x", "bs": "ps", "knots": [1, 3, 2]}`, `basis: the spec of a smooth term: splines of degree 0: 1 to 10 are possible`},
		{"smooth", `{"column": "x", "bs": "ps", "degree": 3, "knots": [1, 2, 3]}`, `basis: the spec of a smooth term: 3 knots for splines of degree 3: 8 to 1004 are possible`},
		{"smooth", `{"column": "x", "bs": "ps", "degree": 1, "knots": [-1e308, 0, 1, 1e308]}`, `basis: the spec of a smooth term: the knots are too far apart for 64-bit numbers: rescale the column`},
		{"smooth", `{"column": "x", "bs": "cr", "knots": [1, 2, 3], "by": {}}`, `basis: the spec of a smooth term: the column's name is empty`},
		{"smooth", `{"column": "x", "bs": "cr", "knots": [1, 2, 3], "by": {"column": "g", "levels": ["a"]}}`, `basis: the spec of a smooth term: by has levels, but none is this term's`},
		{"smooth", `{"column": "x", "bs": "cr", "knots": [1, 2, 3], "by": {"column": "g", "level": "b", "levels": ["a"]}}`, `basis: the spec of a smooth term: level "b" is not among the levels of column "g"`},
	} {
		term, err := Decode(decompose.Kind(c.kind), []byte(c.spec))
		if err == nil || err.Error() != c.want || term != nil {
			t.Errorf("Decode(%s, %s) = %v,\n%v\nwant\n%s", c.kind, c.spec, term, err, c.want)
		}
	}
}

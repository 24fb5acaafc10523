package basis_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// Functions of a subspace depend on its columns alone: they stay as they are when all other
// columns take values of other rows. They are not constant, and there is one for each subset
// of columns that the term has.
func TestSubspacesDependOnTheirColumns(t *testing.T) {
	const n = 200
	random := rand.New(rand.NewPCG(1, 5))
	names := []string{"a", "b", "c", "f", "g"}
	drawn := map[string][]int{}
	for _, name := range names {
		drawn[name] = random.Perm(n)
	}
	rows := func(kept []string, shift int) *data.Table {
		tab := data.NewTable(n)
		for j, name := range names {
			x, text := make([]float64, n), make([]string, n)
			for i := range n {
				at := i
				if kept != nil && !slices.Contains(kept, name) {
					at = (i + shift) % n
				}
				x[i] = 100 + 10*math.Sin(float64(drawn[name][at]))*float64(j+1)
				text[i] = strconv.Itoa(drawn[name][at] % 3)
			}
			err := error(nil)
			if name == "f" || name == "g" {
				err = tab.AddTexts(name, text)
			} else {
				err = tab.AddNumeric(name, x)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return tab
	}
	for formula, subspaces := range map[string]int{
		`~ te(a, b, k=5)`:                             2,
		`~ ti(a, b, k=c(4,6), bs=c("ps","cc"))`:       2,
		`~ te(a, b, bs="tp", k=6)`:                    2,
		`~ te(a, b, c, k=4, bs=c("bs","cr","tp"))`:    6,
		`~ te(a, b, c, d=c(2,1), k=c(12,4), bs="tp")`: 2,
		`~ te(a, f, bs=c("cr","re"), k=c(5,3))`:       2,
		`~ f:g`:                                       2,
		`~ f:a`:                                       1,
		`~ a:b`:                                       0,
		`~ f + f:g`:                                   2, // contrasts are in the block, not in the columns
		`~ s(a, f, bs="fs")`:                          1,
		`~ s(a, b)`:                                   0,
		`~ te(a, b, by=c, k=4)`:                       0,
	} {
		tab := rows(nil, 0)
		f, err := basis.Parse(formula, &basis.Options{Schema: tab.Schema()})
		if err != nil {
			t.Fatalf("%s: %v", formula, err)
		}
		blocks, err := decompose.Prepare(t.Context(), tab, f.Specs, nil)
		if err != nil {
			t.Fatalf("%s: %v", formula, err)
		}
		term, found := blocks[len(blocks)-1].Term, 0
		if s, ok := term.(interface{ Subspaces() []decompose.Subspace }); ok {
			for _, sub := range s.Subspaces() {
				found++
				from, to := values(t, term, sub, tab), values(t, term, sub, rows(sub.Columns, 17))
				if !mat.EqualApprox(from, to, 1e-9*(1+mat.Max(from))) {
					t.Errorf("%s: the functions of %q depend on other columns", formula, sub.Columns)
				}
				if column := mat.Col(nil, 0, from); slices.Max(column)-slices.Min(column) < 1e-6 {
					t.Errorf("%s: the first function of %q is constant", formula, sub.Columns)
				}
			}
		}
		if found != subspaces {
			t.Errorf("%s: %d subspaces, want %d", formula, found, subspaces)
		}
	}
}

func values(t *testing.T, term decompose.Term, sub decompose.Subspace, tab *data.Table) *mat.Dense {
	t.Helper()
	phi, out := mat.NewDense(tab.Rows(), term.Dim(), nil), new(mat.Dense)
	for b, err := range tab.Batches(t.Context(), term.Columns()) {
		if err != nil {
			t.Fatal(err)
		}
		if err := term.Eval(phi, b); err != nil {
			t.Fatal(err)
		}
	}
	out.Mul(phi, sub.Map)
	return out
}

// Columns that leave out a factor's first level, as files of earlier versions have them, do
// not sum to functions of the other.
func TestSubspacesOfContrasts(t *testing.T) {
	term, err := basis.Decode("factor", []byte(`{"name": "f:g", "factors": [{"column": "f", "levels": ["a", "b"]}, {"column": "g", "levels": ["p", "q"], "contrast": true}], "cells": [[0, 1], [1, 1]]}`))
	if err != nil {
		t.Fatal(err)
	}
	subs := term.(interface{ Subspaces() []decompose.Subspace }).Subspaces()
	if len(subs) != 1 || !slices.Equal(subs[0].Columns, []string{"g"}) {
		t.Errorf("%+v", subs)
	}
}

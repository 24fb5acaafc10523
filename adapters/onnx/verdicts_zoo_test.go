package onnx_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// TestVerdictsOfTheZoo decomposes every network of the zoo that has terms and takes
// numbers, on rows drawn for it. No term is identified that another one of a part, or all,
// of its features can hold functions of, nor any term of a softmax.
func TestVerdictsOfTheZoo(t *testing.T) {
	counts := map[string]int{}
	networks := 0
	for _, n := range zooNetworks(t) {
		m, rows := drawnFor(n)
		if m == nil {
			continue
		}
		said, conventions := map[string]bool{}, decompose.Sharing{Uniqueness: decompose.Uniqueness{Convention: "determined up to a function common to all classes"}, Apart: true}
		for k, p := range m.Predictors() {
			if h := m.Head(k); h == "softmax" || h == "logsoftmax" {
				said[p], conventions.Predictors = true, append(conventions.Predictors, p)
			}
		}
		o := new(decompose.Options)
		if len(said) > 0 {
			o.Shared = []decompose.Sharing{conventions}
		}
		r, err := decompose.Decompose(context.Background(), m, rows, o)
		if err != nil {
			t.Logf("%s/%s: %v", n.exporter, n.Name, err)
			continue
		}
		networks++
		for _, d := range r.Predictors {
			for j, term := range d.Terms {
				counts[fmt.Sprintf("identified %v -> %s", term.Identified, term.Verdict)]++
				if term.Verdict == decompose.Identified && said[d.Name] {
					t.Errorf("%s/%s: %s of class %s is identified", n.exporter, n.Name, term.Name, d.Name)
				}
				for i, other := range d.Terms {
					within := !slices.ContainsFunc(term.Features, func(f string) bool { return !slices.Contains(other.Features, f) })
					if i != j && within && (term.Verdict == decompose.Identified || other.Verdict == decompose.Identified) {
						t.Errorf("%s/%s: %s is %s next to %s, which is %s", n.exporter, n.Name, term.Name, term.Verdict, other.Name, other.Verdict)
					}
				}
			}
		}
	}
	if networks < 40 {
		t.Errorf("only %d networks", networks)
	}
	var lines []string
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		lines = append(lines, fmt.Sprintf("%4d terms: %s", counts[k], k))
	}
	t.Logf("%d networks\n%s", networks, strings.Join(lines, "\n"))
}

// drawnFor opens a network and draws rows for it; nil without terms, or where it is fed
// text, wide arrays or codes.
func drawnFor(n zooNetwork) (*onnx.Model, *data.Table) {
	g, err := onnx.LoadFile(n.file, nil)
	if err != nil {
		return nil, nil
	}
	for _, in := range n.Inputs {
		if in.Type != "float" && in.Type != "double" {
			return nil, nil
		}
	}
	m, err := onnx.NewModel(g, onnx.Unbound(g), nil)
	if err != nil || len(m.Columns()) > 40 {
		return nil, nil
	}
	terms := 0
	for k := range m.Predictors() {
		terms += len(m.Blocks(k))
	}
	if terms == 0 {
		return nil, nil
	}
	random, rows := rand.New(rand.NewPCG(7, 7)), data.NewTable(500)
	for _, c := range m.Columns() {
		v := make([]float64, 500)
		for i := range v {
			v[i] = float64(float32(random.NormFloat64()))
		}
		if rows.AddNumeric(c, v) != nil {
			return nil, nil
		}
	}
	return m, rows
}

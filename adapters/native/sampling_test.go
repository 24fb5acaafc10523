package native

import (
	"bytes"
	"testing"

	"github.com/pho-go/pho/decompose"
)

// TestSampling: networks of other resamples differ, but not in their terms, or in the rows
// held out if they have one split; a resample is drawn from the other rows alone.
func TestSampling(t *testing.T) {
	tab := simulated(t, 300, 9)
	cfg := Config{Response: "y", Structured: Structured{Formulas: []string{"~ s(x1) + s(x2)"}}, Deep: Deep{Columns: []string{"x1", "x2"}, Hidden: []int{4}},
		Training: Training{Epochs: 2}}
	train := func(seed, split, resample uint64) (*Model, *Fit) {
		c := cfg
		c.Training.Seed, c.Sampling = seed, Sampling{SplitSeed: split, Resample: resample}
		return mustTrain(t, c, tab)
	}
	terms := func(m *Model) string {
		doc, err := decompose.EncodeBlocks([][]decompose.Block{m.Blocks(0)})
		if err != nil {
			t.Fatal(err)
		}
		return string(doc)
	}
	plain, plainFit := train(3, 0, 0)
	same, sameFit := train(3, 3, 0)
	if !bytes.Equal(saved(t, plain), saved(t, same)) || plainFit.Evaluation != sameFit.Evaluation {
		t.Error("a split by the training's own seed is another one")
	}
	first, firstFit := train(3, 7, 1)
	second, secondFit := train(4, 7, 2)
	again, _ := train(3, 7, 1)
	if terms(first) != terms(second) {
		t.Error("networks of two resamples have other terms")
	}
	if bytes.Equal(saved(t, first), saved(t, second)) || !bytes.Equal(saved(t, first), saved(t, again)) {
		t.Error("resamples do not differ, or not by their seed alone")
	}
	held := func(f *Fit) []int64 {
		var rows []int64
		for i := range f.evaluator.rows.Rows() {
			rows = append(rows, f.evaluator.rows.Batch.Row(i))
		}
		return rows
	}
	a, b := held(firstFit), held(secondFit)
	if len(a) != 60 || firstFit.Rows != 240 || secondFit.Rows != 240 {
		t.Fatalf("%d rows held out, %d and %d trained on", len(a), firstFit.Rows, secondFit.Rows)
	}
	for i := range a {
		if a[i] != b[i] {
			t.Fatal("the rows held out differ")
		}
	}
	c := cfg
	c.Sampling = Sampling{SplitSeed: 7, Resample: 1}
	c = c.withDefaults()
	j, err := prepare(t.Context(), &c, tab)
	if err != nil {
		t.Fatal(err)
	}
	out, twice := map[int64]bool{}, map[int64]int{}
	for _, row := range a {
		out[row] = true
	}
	most := 0
	for i := range j.train.Rows() {
		row := j.train.Batch.Row(i)
		if out[row] {
			t.Fatalf("row %d is trained on and held out", row)
		}
		twice[row]++
		most = max(most, twice[row])
	}
	if most < 2 {
		t.Error("no row is drawn twice")
	}
}

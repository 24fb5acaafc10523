package decompose_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/penalty"
)

// leveledModel is of a factor of levels levels and a number, in four rows of two clusters for each level.
func leveledModel(t *testing.T, levels int) (decompose.Model, *data.Table) {
	n := 4 * levels
	r := rand.New(rand.NewPCG(1, 2))
	tab := data.NewTable(n)
	x, eta, g, c := make([]float64, n), make([]float64, n), make([]string, n), make([]string, n)
	for i := range n {
		x[i], g[i], c[i] = r.NormFloat64(), fmt.Sprint("g", i%levels), fmt.Sprint("c", i/2)
		eta[i] = x[i]*x[i] + float64(i%levels%7)
	}
	must(t, tab.AddNumeric("x", x))
	must(t, tab.AddTexts("g", g))
	must(t, tab.AddTexts("c", c))
	must(t, tab.AddNumeric("y", eta))
	f, err := basis.Parse("~ x + g", &basis.Options{Schema: tab.Schema()})
	must(t, err)
	blocks, err := decompose.Prepare(context.Background(), tab, f.Specs, nil)
	must(t, err)
	m, err := decompose.With(&responses{[]string{"eta"}, []string{"y"}}, map[string][]decompose.Block{"": blocks})
	must(t, err)
	return m, tab
}

// TestManyClustersOfManyLevels: of more clusters than levels the result holds the numbers of p x p, not of p x clusters.
func TestManyClustersOfManyLevels(t *testing.T) {
	const levels = 600
	m, tab := leveledModel(t, levels)
	r := decomposed(t, m, tab, &decompose.Options{Columns: decompose.Columns{Cluster: "c"}})
	var out bytes.Buffer
	must(t, r.EncodeMoments(&out))
	if most := 2 * 8 * levels * levels; out.Len() > most { // p (p + 1) / 2 of them, and sums by level
		t.Errorf("%d levels and %d clusters take %d bytes, more than %d", levels, 2*levels, out.Len(), most)
	}
}

// TestEstimateWorkOfManyLevels: what covariances of many levels take is in proportion to the levels.
func TestEstimateWorkOfManyLevels(t *testing.T) {
	covariances := func(levels int) float64 {
		m, tab := leveledModel(t, levels)
		work, err := decompose.EstimateWork(m, int64(tab.Rows()), nil)
		must(t, err)
		return work[len(work)-1].Seconds
	}
	if few, many := covariances(1000), covariances(8000); many > 10*few {
		t.Errorf("covariances of 8 times as many levels are estimated to take %.0f times as long", many/few)
	}
}

// TestEstimateMemoryOfManyLevels: what a criterion other than REML holds of levels with each other is counted.
func TestEstimateMemoryOfManyLevels(t *testing.T) {
	const levels = 3000
	m, tab := leveledModel(t, levels)
	all := func(c penalty.Criterion) (sum int64) {
		o := &decompose.Options{}
		o.Smoothing.Selection.Criterion = c
		memory, err := decompose.EstimateMemory(m, int64(tab.Rows()), o)
		must(t, err)
		for _, part := range memory {
			sum += part.Bytes
		}
		return sum
	}
	if matrix := int64(8 * levels * levels); all(penalty.GCV) < all(penalty.REML)+2*matrix {
		t.Errorf("GCV is estimated to hold %d bytes, REML %d: one matrix is %d", all(penalty.GCV), all(penalty.REML), matrix)
	}
}

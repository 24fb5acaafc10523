package decompose

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/internal/base/dyadic"
)

// nothing is what no rows add.
func (p *sandwichPlan) nothing() bandSums {
	if p == nil {
		return bandSums{}
	}
	b := bandSums{sums: make([]*dyadic.Sparse[*moments.Scatter], len(p.predictors)), shapes: make([]moments.Shape, len(p.predictors)), pinned: make([][]int64, len(p.predictors))}
	if p.cluster != "" {
		b.clusters = new(dyadic.Sparse[*clusterSums])
		b.column, b.widths = p.cluster, p.clusterSums().widths
	}
	for k, s := range p.predictors {
		if s == nil {
			continue
		}
		b.pinned[k] = make([]int64, len(s.frame.Dims))
		if p.cluster == "" {
			b.sums[k], b.shapes[k] = new(dyadic.Sparse[*moments.Scatter]), s.frame.Shape()
		}
	}
	return b
}

// add adds a chunk; nil: none.
func (b *bandSums) add(chunk int, c *sandwichChunk) error {
	if c == nil {
		return nil
	}
	if b.clusters != nil {
		if err := b.clusters.Add(dyadic.Node[*clusterSums]{Start: chunk, Value: c.clusters}, addClusters); err != nil {
			return err
		}
		if err := b.checkClusters(); err != nil {
			return err
		}
	}
	for k, s := range c.sums {
		if b.sums[k] != nil {
			if err := b.sums[k].Add(dyadic.Node[*moments.Scatter]{Start: chunk, Value: s}, c.plan.adding(k)); err != nil {
				return fmt.Errorf("decompose: robust bands: %w", err)
			}
		}
	}
	b.addPinned(c.pinned)
	return nil
}

func (b *bandSums) addPinned(pinned [][]int64) {
	for k := range pinned {
		for j, n := range pinned[k] {
			b.pinned[k][j] += n
		}
	}
}

// skip notes that chunks have no rows.
func (b *bandSums) skip(first, next int) error {
	for _, sum := range b.sums {
		if sum == nil {
			continue
		}
		if err := sum.Skip(first, next, addScatters); err != nil {
			return err
		}
	}
	if b.clusters == nil {
		return nil
	}
	return b.clusters.Skip(first, next, addClusters)
}

// merge adds the sums of other rows, whose memory may be taken.
func (b *bandSums) merge(o *bandSums) error {
	for k, sum := range b.sums {
		if sum == nil {
			continue
		}
		if err := sum.Merge(o.sums[k], addScatters); err != nil {
			return fmt.Errorf("decompose: robust bands: %w", err)
		}
	}
	b.addPinned(o.pinned)
	if b.clusters == nil {
		return nil
	}
	if err := b.clusters.Merge(o.clusters, addClusters); err != nil {
		return err
	}
	return b.checkClusters()
}

// like tells whether b and o are of the same predictors and terms.
func (b *bandSums) like(o *bandSums) bool {
	if len(b.sums) != len(o.sums) || (b.clusters == nil) != (o.clusters == nil) || b.column != o.column || !slices.Equal(b.widths, o.widths) {
		return false
	}
	for k, sum := range b.sums {
		if (sum == nil) != (o.sums[k] == nil) || !b.shapes[k].Like(o.shapes[k]) || len(b.pinned[k]) != len(o.pinned[k]) {
			return false
		}
	}
	return true
}

// allClusters are the sums of all clusters, in the order of their first rows of weight; nil
// if rows are independent. They are used up.
func (b *bandSums) allClusters() (*clusterSums, error) {
	if b.clusters == nil {
		return nil, nil
	}
	total, _, err := b.clusters.Total(addClusters)
	return total, err
}

// maxClusterNodes bounds the sums of clusters in all nodes of the tree.
const maxClusterNodes = 2 * maxClusterBytes

// checkClusters refuses more sums than there is room for.
func (b *bandSums) checkClusters() error {
	var bytes int64
	b.clusters.Each(func(n dyadic.Node[*clusterSums], ok bool) {
		if ok {
			bytes += 8 * int64(len(n.Value.sums))
		}
	})
	if bytes > maxClusterNodes {
		return fmt.Errorf("decompose: clusters %q: the sums of so many clusters do not fit into %s: choose a coarser column or terms with fewer columns", b.column, Size(maxClusterNodes))
	}
	return nil
}

func addClusters(a, b *clusterSums) (*clusterSums, error) { return a, a.merge(b) }

func addScatters(a, b *moments.Scatter) (*moments.Scatter, error) { return a, a.Add(b) }

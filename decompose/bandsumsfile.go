package decompose

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/internal/base/dyadic"
	"github.com/pho-go/pho/internal/base/wire"
)

// describe notes the shape of b.
func (b *bandSums) describe(h *explanationHeader) {
	for k, sum := range b.sums {
		h.Bands, h.Pinned = append(h.Bands, sum != nil), append(h.Pinned, b.pinned[k])
	}
	if b.clusters != nil {
		h.Clusters = &clusterFile{b.column, b.widths}
		return
	}
	for k := range b.shapes {
		h.Columns = append(h.Columns, b.shapes[k].Joined)
	}
	if slices.ContainsFunc(b.shapes, func(s moments.Shape) bool { return len(s.Copies) > 0 }) {
		for k := range b.shapes {
			h.Copies = append(h.Copies, b.shapes[k].Copies)
		}
	}
}

// append writes what describe has described.
func (b *bandSums) append(w *sumsWriter) {
	for _, sum := range b.sums {
		if sum != nil {
			sum.Each(func(n dyadic.Node[*moments.Scatter], ok bool) {
				if ok {
					w.out = wire.AppendText(w.out, n.Value.AppendTo(nil))
				}
			})
		}
	}
	if b.clusters == nil {
		return
	}
	b.clusters.Each(func(n dyadic.Node[*clusterSums], ok bool) {
		if ok {
			n.Value.append(w)
		}
	})
}

// bandSums reads sums of the shape in h.
func (r sumsReader) bandSums(h *explanationHeader) (bandSums, error) {
	var b bandSums
	if len(h.Bands) == 0 {
		return b, nil
	}
	if len(h.Bands) != h.Predictors || len(h.Pinned) != h.Predictors {
		return b, errors.New("bands of other predictors: the file is damaged")
	}
	b.pinned, b.sums, b.shapes = h.Pinned, make([]*dyadic.Sparse[*moments.Scatter], len(h.Bands)), make([]moments.Shape, len(h.Bands))
	if slices.Contains(h.Bands, true) {
		if len(h.Columns) != len(h.Bands) || h.Copies != nil && len(h.Copies) != len(h.Bands) {
			return b, errors.New("bands of an earlier version: make the last pass over those rows again")
		}
		for k := range b.shapes {
			b.shapes[k].Joined = h.Columns[k]
			if h.Copies != nil {
				b.shapes[k].Copies = h.Copies[k]
			}
		}
	}
	for k, there := range h.Bands {
		if !there {
			continue
		}
		sums, err := readNodes(h, true, addScatters, func() (*moments.Scatter, error) { return moments.ReadScatter(r.Bytes(), b.shapes[k]) })
		if err != nil {
			return b, err
		}
		b.sums[k] = &sums
	}
	if h.Clusters == nil {
		return b, nil
	}
	if len(h.Clusters.Widths) != h.Predictors {
		return b, errors.New("clusters of other predictors: the file is damaged")
	}
	b.column, b.widths = h.Clusters.Column, h.Clusters.Widths
	tree, err := readNodes(h, true, addClusters, func() (*clusterSums, error) { return r.clusters(h.Clusters) })
	b.clusters = &tree
	return b, err
}

// append writes the clusters in order.
func (c *clusterSums) append(w *sumsWriter) {
	w.out = wire.AppendInt(w.out, len(c.names))
	for i, name := range c.names {
		w.out = wire.AppendText(w.out, name)
		w.numbers(c.of(i))
	}
	for _, o := range c.owner {
		w.integer(int64(o))
	}
}

// clusters reads those of a node.
func (r sumsReader) clusters(f *clusterFile) (*clusterSums, error) {
	c := &clusterSums{column: f.Column, widths: f.Widths, id: map[string]int{}}
	for _, w := range f.Widths {
		if !r.room(w, 8) || !r.room(c.width, 8) {
			return nil, errCut()
		}
		c.width += w
	}
	n := r.Count(8 * (1 + c.width))
	for i := range n {
		name := r.Text()
		if _, ok := c.id[name]; ok {
			return nil, fmt.Errorf("cluster %q is there twice: the file is damaged", name)
		}
		c.id[name], c.names = i, append(c.names, name)
		c.sums = append(c.sums, r.numbers(c.width)...)
	}
	for range c.width {
		o := r.Int()
		if o < several || o >= int64(n) {
			return nil, fmt.Errorf("cluster %d of %d has a column alone: the file is damaged", o, n)
		}
		c.owner = append(c.owner, int(o))
	}
	if r.Err() != nil {
		return nil, errCut()
	}
	return c, nil
}

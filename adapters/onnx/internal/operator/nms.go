package operator

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// nmsOps keep the boxes of highest score that overlap little.
func nmsOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "NonMaxSuppression", Versions: []int{10, 11}, Min: 2, Max: 5, Outputs: 1, Check: checkNMS},
			Rule: opaque, Compile: compileNMS[T]},
	}
}

// suppression holds its settings and, in the end, what is selected: batch, class and box.
type suppression struct {
	boxes, scores []float64
	n             int // boxes of each batch
	centre        bool
	most          int64 // boxes of each class
	overlap       float64
	least         float64
	bounded       bool // by least
	selected      []int64
}

func checkNMS(c *graph.Check) error {
	for i, v := range c.Inputs {
		if v == nil {
			continue
		}
		if err := known(c, i); err != nil {
			return err
		}
		if i >= 2 && len(v.Const.F)+len(v.Const.I) != 1 || i != 2 && !v.Type.Floating() || i == 2 && v.Type.Floating() {
			return fmt.Errorf("input %d (%q) of type %s and shape %v does not fit", i, v.Name, v.Type, v.Shape)
		}
	}
	boxes, scores := c.Inputs[0], c.Inputs[1]
	if len(boxes.Shape) != 3 || len(scores.Shape) != 3 || boxes.Shape[2] != 4 || boxes.Shape[0] != scores.Shape[0] || boxes.Shape[1] != scores.Shape[2] {
		return fmt.Errorf("boxes of shape %v and scores of shape %v", boxes.Shape, scores.Shape)
	}
	s := &suppression{boxes: boxes.Const.F, scores: scores.Const.F, n: boxes.Shape[1], centre: c.AttrInt("center_point_box", 0) != 0}
	if c.Has(2) {
		s.most = c.Inputs[2].Const.I[0]
	}
	if c.Has(3) {
		s.overlap = c.Inputs[3].Const.F[0]
	}
	if c.Has(4) {
		s.least, s.bounded = c.Inputs[4].Const.F[0], true
	}
	if s.n > 0 {
		kept := int64(max(min(s.most, int64(s.n)), 0)) + int64(bits.Len(uint(s.n)))
		if lines := int64(len(s.scores)); lines > 0 && kept > (1<<62)/lines {
			return fmt.Errorf("%d boxes for %d scores are too many", kept, lines)
		}
		if err := c.Spend(int64(len(s.scores)) * kept); err != nil {
			return err
		}
		for line := range len(s.scores) / s.n {
			s.line(line/scores.Shape[1], line%scores.Shape[1], s.scores[line*s.n:(line+1)*s.n])
		}
	}
	c.Resolved = s
	return c.Set(0, graph.Int64, []int{len(s.selected) / 3, 3})
}

// line selects among the boxes of a batch by the scores of a class: the highest first,
// and none that overlaps one that is selected by more than allowed.
func (s *suppression) line(batch, class int, score []float64) {
	var order []int
	for i, v := range score {
		if !s.bounded || v > s.least {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(score[j], score[i]) })
	var kept []int
	for _, i := range order {
		if int64(len(kept)) >= s.most {
			break
		}
		if !slices.ContainsFunc(kept, func(j int) bool { return s.shared(batch, i, j) > s.overlap }) {
			kept = append(kept, i)
			s.selected = append(s.selected, int64(batch), int64(class), int64(i))
		}
	}
}

// box are the least and largest coordinates.
func (s *suppression) box(batch, i int) (lo, hi [2]float64) {
	b := s.boxes[(batch*s.n+i)*4:]
	for k := range 2 {
		if s.centre {
			lo[k], hi[k] = b[k]-b[k+2]/2, b[k]+b[k+2]/2
		} else {
			lo[k], hi[k] = min(b[k], b[k+2]), max(b[k], b[k+2])
		}
	}
	return lo, hi
}

// shared is the area that two boxes share, by what they cover together.
func (s *suppression) shared(batch, i, j int) float64 {
	la, ha := s.box(batch, i)
	lb, hb := s.box(batch, j)
	both, first, second := 1.0, 1.0, 1.0
	for k := range 2 {
		both *= max(min(ha[k], hb[k])-max(la[k], lb[k]), 0)
		first *= ha[k] - la[k]
		second *= hb[k] - lb[k]
	}
	if first <= 0 || second <= 0 || both <= 0 {
		return 0
	}
	return both / (first + second - both)
}

func compileNMS[T kernel.Float](n *graph.Node) Step[T] {
	s := n.Resolved.(*suppression)
	return func(x *Exec[T]) error {
		copy(x.Out[0].I, s.selected)
		return nil
	}
}

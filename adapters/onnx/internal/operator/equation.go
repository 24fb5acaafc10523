package operator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

// equation is an einsum's: a label for each axis of each operand, and of the output. An
// ellipsis is written out, its axes labelled by the bytes from hidden on, the last of
// them the same in all operands.
type equation struct {
	in  []string
	out string
}

const (
	ellipsis = "..."
	hidden   = 0x80
)

// parseEquation labels the axes of operands of those ranks.
func parseEquation(text string, ranks []int) (e equation, err error) {
	eq := strings.ReplaceAll(text, " ", "")
	left, out, explicit := strings.Cut(eq, "->")
	terms := strings.Split(left, ",")
	if len(terms) != len(ranks) {
		return e, fmt.Errorf("equation %q has %d operands, the node %d", eq, len(terms), len(ranks))
	}
	deepest := 0 // axes of the longest ellipsis
	for i, s := range terms {
		n := ranks[i] - len(s)
		if strings.Contains(s, ellipsis) {
			n += len(ellipsis)
			deepest = max(deepest, n)
		} else if n != 0 {
			return e, fmt.Errorf("labels %q for a tensor of %d axes", s, ranks[i])
		}
		if n < 0 {
			return e, fmt.Errorf("labels %q for a tensor of %d axes", s, ranks[i])
		}
	}
	if !explicit {
		out = implicitOutput(left)
	}
	if deepest > 0 && !strings.Contains(out, ellipsis) {
		return e, fmt.Errorf("equation %q sums over an ellipsis; write it into the output", eq)
	}
	for i, s := range terms {
		label, err := spellOut(s, ranks[i]-len(s)+len(ellipsis), deepest, eq)
		if err != nil {
			return e, err
		}
		e.in = append(e.in, label)
	}
	e.out, err = spellOut(out, deepest, deepest, eq)
	return e, err
}

// implicitOutput is the ellipsis, if there is one, and the labels that occur once.
func implicitOutput(left string) (out string) {
	if strings.Contains(left, ellipsis) {
		out = ellipsis
	}
	letters := strings.NewReplacer(ellipsis, "", ",", "").Replace(left)
	labels := strings.Split(letters, "")
	slices.Sort(labels)
	for _, l := range labels {
		if strings.Count(letters, l) == 1 {
			out += l
		}
	}
	return out
}

// spellOut replaces the ellipsis of a term by the labels of its n axes, of deepest.
func spellOut(term string, n, deepest int, eq string) (string, error) {
	before, after, _ := strings.Cut(term, ellipsis)
	for _, r := range before + after {
		if r < 'A' || r > 'z' || r > 'Z' && r < 'a' {
			return "", fmt.Errorf("equation %q: label %q is no letter", eq, r)
		}
	}
	if !strings.Contains(term, ellipsis) {
		return term, nil
	}
	labels := []byte(before)
	for i := deepest - n; i < deepest; i++ {
		labels = append(labels, byte(hidden+i))
	}
	return string(append(labels, after...)), nil
}

// labelText writes a label in messages.
func labelText(label byte) string {
	if label >= hidden {
		return "of the ellipsis"
	}
	return fmt.Sprintf("%q", rune(label))
}

// sizes are those of the labels; a size of 1 gives way to another one.
func (e *equation) sizes(shapes [][]int) (size map[byte]int, err error) {
	size = map[byte]int{}
	for i, s := range e.in {
		for j := range len(s) {
			have, ok := size[s[j]]
			switch d := shapes[i][j]; {
			case d != shapes[i][strings.IndexByte(s, s[j])]:
				return nil, fmt.Errorf("the diagonal of label %s in %s", labelText(s[j]), graph.ShapeText(shapes[i]))
			case !ok || have == 1:
				size[s[j]] = d
			case d != 1 && d != have:
				return nil, fmt.Errorf("label %s has sizes %s", labelText(s[j]), graph.ShapeText([]int{have, d}))
			}
		}
	}
	for i := range len(e.out) {
		if _, ok := size[e.out[i]]; !ok {
			return nil, fmt.Errorf("output label %s is in no operand", labelText(e.out[i]))
		}
		if strings.IndexByte(e.out, e.out[i]) != i {
			return nil, fmt.Errorf("the output repeats label %s", labelText(e.out[i]))
		}
	}
	return size, nil
}

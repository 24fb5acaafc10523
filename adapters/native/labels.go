package native

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/native/internal/rows"
	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/family"
)

// ONNX networks take numbers. A column of text is fed as the place of its level among
// the sorted levels of the training rows, from 0; a response of two texts is trained as
// 0 and 1 in the same way, and classes as 0, 1, ... onnx.Labels in the file's metadata say so.

// codeClasses turns a response of text, or of classes that are numbers, into the numbers of
// the classes from 0, in their order. classes nil: they are those of f, which are returned; nil for a response of
// numbers.
func (c *Config) codeClasses(f *rows.Frame, classes []string) ([]string, error) {
	at := slices.IndexFunc(f.Columns, func(col data.Column) bool { return col.Name == c.Response })
	if at < 0 || f.Columns[at].Numeric && !c.categorical() {
		return nil, nil
	}
	if classes == nil {
		var err error
		if classes, err = c.classesOf(f); err != nil {
			return nil, err
		}
		if len(classes) != 2 && !c.categorical() {
			return nil, fmt.Errorf("native: the response %q is text with %d different values, %.80q: family %s is of two classes; leave rows out, or code one class as 1 and the others as 0",
				c.Response, len(classes), classes, c.Family.Name())
		}
	}
	level, err := c.classText(f)
	if err != nil {
		return nil, err
	}
	place := map[string]int{}
	for k, class := range classes {
		place[class] = k
	}
	y := make([]float64, f.Rows())
	for i := range y {
		class, known := place[level(i)]
		if !known {
			return nil, fmt.Errorf("native: response %q, data row %d: %q is none of the classes %.200q of the training rows", c.Response, f.Batch.Row(i)+1, level(i), classes)
		}
		y[i] = float64(class)
	}
	f.Columns = slices.Clone(f.Columns)
	f.Columns[at].Numeric, f.Columns[at].Categorical = true, false
	return classes, f.Batch.SetNumeric(c.Response, y)
}

// textLevels are the levels of the text columns among those that a model reads.
func textLevels(columns []string, train *rows.Frame) (map[string][]string, error) {
	out := map[string][]string{}
	for _, c := range train.Columns {
		if c.Numeric || !slices.Contains(columns, c.Name) {
			continue
		}
		var err error
		if out[c.Name], err = rows.Levels(train.Batch, c.Name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Labels are the texts that the numbers of the saved network stand for: of input columns
// and of the classes of the response. nil: it was trained on numbers alone. The maps and
// slices are copies.
func (m *Model) Labels() *onnx.Labels {
	if len(m.levels) == 0 && m.classes == nil {
		return nil
	}
	l := &onnx.Labels{Columns: map[string][]string{}, Classes: slices.Clone(m.classes)}
	for name, levels := range m.levels {
		l.Columns[name] = slices.Clone(levels)
	}
	if m.classes != nil {
		l.Response = m.response
	}
	return l
}

// trainedFor is what the file says of the response: the family that was asked for, not
// the numbers that training found for it. nil for gaussian, which is what is assumed of a
// network that says nothing, and for a family that family.Parse does not know.
func (m *Model) trainedFor() *onnx.Response {
	gaussian := family.Gaussian{}.Name()
	if _, err := family.Parse(m.asked, make([]string, len(m.names))); err != nil || m.asked == gaussian {
		return nil
	}
	return &onnx.Response{Column: m.response, Family: m.asked, Event: m.event}
}

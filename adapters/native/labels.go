package native

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
)

// ONNX networks take numbers. A column of text is fed as the place of its level among
// the sorted levels of the training rows, from 0; a response of two texts is trained as
// 0 and 1 in the same way. onnx.Labels in the file's metadata say so.

// occurring are the distinct levels of a column among the rows of f, sorted.
func occurring(f *frame, column string) ([]string, error) {
	level, err := levels(f.batch, column)
	if err != nil {
		return nil, err
	}
	var all []string
	seen := map[string]bool{}
	for i := range f.rows() {
		if s := level(i); !seen[s] {
			seen[s] = true
			all = append(all, s)
		}
	}
	slices.Sort(all)
	return all, nil
}

// codeClasses turns a response of text into numbers: 0 and 1 for the classes, in their
// order. classes nil: they are those of f, which are returned; nil for a response of
// numbers.
func (c *Config) codeClasses(f *frame, classes []string) ([]string, error) {
	at := slices.IndexFunc(f.schema, func(col data.Column) bool { return col.Name == c.Response })
	if at < 0 || f.schema[at].Numeric {
		return nil, nil
	}
	if classes == nil {
		var err error
		if classes, err = occurring(f, c.Response); err != nil {
			return nil, err
		}
		if len(classes) != 2 {
			return nil, fmt.Errorf("native: the response %q is text with %d different values, %.80q: family %s is of two classes; leave rows out, or code one class as 1 and the others as 0",
				c.Response, len(classes), classes, c.Family.Name())
		}
	}
	level, err := levels(f.batch, c.Response)
	if err != nil {
		return nil, err
	}
	y := make([]float64, f.rows())
	for i := range y {
		class := slices.Index(classes, level(i))
		if class < 0 {
			return nil, fmt.Errorf("native: response %q, data row %d: %q is neither of the classes %q of the training rows", c.Response, f.batch.Row(i)+1, level(i), classes)
		}
		y[i] = float64(class)
	}
	f.schema = slices.Clone(f.schema)
	f.schema[at].Numeric, f.schema[at].Categorical = true, false
	return classes, f.batch.SetNumeric(c.Response, y)
}

// textLevels are the levels of the text columns among those that a model reads.
func textLevels(columns []string, train *frame) (map[string][]string, error) {
	out := map[string][]string{}
	for _, c := range train.schema {
		if c.Numeric || !slices.Contains(columns, c.Name) {
			continue
		}
		var err error
		if out[c.Name], err = occurring(train, c.Name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Labels are the texts that stand behind the numbers of the saved network; nil: it was
// trained on numbers alone.
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

// coded adds to f, for each column of text, the numbers that a saved network reads.
func (f *frame) coded(levels map[string][]string) error {
	f.schema = slices.Clone(f.schema)
	for i, c := range f.schema {
		known, ok := levels[c.Name]
		if !ok {
			continue
		}
		codes, err := (&factorPlan{column: c.Name, levels: known}).codes(f.batch)
		if err != nil {
			return err
		}
		x := make([]float64, len(codes))
		for r, code := range codes {
			x[r] = float64(code)
		}
		f.schema[i].Numeric = true
		if err := f.batch.SetNumeric(c.Name, x); err != nil {
			return err
		}
	}
	return nil
}

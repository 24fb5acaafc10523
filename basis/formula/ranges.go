package formula

import "slices"

// WithRanges is f with the columns written out that ranges stand for, as first..last: the
// summand temp..hum is temp + ... + hum, and onehot(a..c) is onehot(a, b, c), as of ridge(). columns gives
// those of a name, and whether it is a range; others stay names. f itself if there is no range,
// else positions are those of its own text, written anew. Other places cannot hold a range.
func (f *Formula) WithRanges(columns func(name string) (names []string, isRange bool, err error)) (*Formula, error) {
	r := &ranges{f: f, columns: columns}
	g := *f
	g.Summands = nil
	for _, t := range f.Summands {
		all, err := r.summand(t)
		if err != nil {
			return nil, err
		}
		g.Summands = append(g.Summands, all...)
	}
	if f.Others != nil {
		without, err := r.names(f.Others.Without)
		if err != nil {
			return nil, err
		}
		g.Others = &Others{Pos: f.Others.Pos, Without: without}
	}
	if !r.found {
		return f, nil
	}
	return Parse(g.String())
}

type ranges struct {
	f       *Formula
	columns func(name string) ([]string, bool, error)
	found   bool
}

// names writes ranges out.
func (r *ranges) names(names []Name) (out []Name, err error) {
	for _, n := range names {
		columns, isRange, err := r.columns(n.Text)
		if err != nil {
			return nil, r.f.Errorf(n.Pos, "%v", err)
		}
		if !isRange {
			out = append(out, n)
			continue
		}
		r.found = true
		for _, c := range columns {
			out = append(out, Name{n.Pos, n.End, c})
		}
	}
	return out, nil
}

// summand is t, or several in place of a range.
func (r *ranges) summand(t Summand) ([]Summand, error) {
	for i, c := range t.Calls {
		vars, err := r.names(c.Vars)
		if err != nil {
			return nil, err
		}
		same := slices.EqualFunc(vars, c.Vars, func(a, b Name) bool { return a.Text == b.Text })
		switch {
		case c.Func == "onehot" && len(vars) < 2:
			return nil, r.f.Errorf(c.Pos, "onehot() takes the columns of a factor, two or more of them")
		case c.Func == "onehot", c.Func == "ridge":
			t.Calls = slices.Clone(t.Calls)
			t.Calls[i].Vars = vars
		case same:
		case c.Func != "" || len(t.Calls) > 1:
			return nil, r.f.Errorf(c.Vars[0].Pos, "a range stands for several terms, as in ~ first..last, or for the columns of onehot() and ridge(): write the columns of this term one by one")
		default:
			var all []Summand
			for _, v := range vars {
				all = append(all, Summand{t.Pos, t.End, []Call{{Pos: c.Pos, End: c.End, Vars: []Name{v}}}})
			}
			return all, nil
		}
		if by, ok := c.Arg("by"); ok && by.Value.Kind == Identifier {
			if _, isRange, err := r.columns(by.Value.Text); isRange || err != nil {
				return nil, r.f.Errorf(by.Value.Pos, "by takes one column, not a range")
			}
		}
	}
	return []Summand{t}, nil
}

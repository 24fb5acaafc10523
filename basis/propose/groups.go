package propose

import "strings"

// groups finds the factors that are held as a column of 0 and 1 for each level, by column:
// runs of columns no two of which are 1 on a row, and either each row has a 1 or they have
// a prefix in common, as color_red and color_blue.
func (s *scan) groups() map[string][]string {
	var runs [][]*column
	for i, c := range s.columns {
		if !c.binary || c.one == 0 || c.one == s.rows {
			continue
		}
		if n := len(runs); n > 0 && i > 0 && s.joins(runs[n-1], c, s.columns[i-1]) {
			runs[n-1] = append(runs[n-1], c)
		} else {
			runs = append(runs, []*column{c})
		}
	}
	groups := map[string][]string{}
	for _, run := range runs {
		if len(run) < 2 || !s.covers(run) && !related(run) {
			continue
		}
		var names []string
		for _, c := range run {
			names = append(names, c.name)
		}
		for _, name := range names {
			groups[name] = names
		}
	}
	return groups
}

// joins reports whether c can be one more level of the run that ends in the column before.
func (s *scan) joins(run []*column, c, before *column) bool {
	if run[len(run)-1] != before || s.covers(run) {
		return false
	}
	for _, d := range run {
		if s.both[c.place][d.place] > 0 {
			return false
		}
	}
	return prefix(run[0].name) == prefix(c.name) || prefix(run[0].name) == "" || prefix(c.name) == ""
}

// covers reports whether each row has a 1 in a column of the run.
func (s *scan) covers(run []*column) bool {
	ones := int64(0)
	for _, c := range run {
		ones += c.one
	}
	return ones == s.rows
}

// related reports whether the names begin alike.
func related(run []*column) bool {
	for _, c := range run {
		if p := prefix(c.name); p == "" || p != prefix(run[0].name) {
			return false
		}
	}
	return true
}

// prefix is what a column's name has before its level: color of color_red, color=red,
// color.red, color[red]; "" without.
func prefix(name string) string {
	if i := strings.LastIndexAny(name, "_=.[:"); i > 0 {
		return name[:i]
	}
	return ""
}

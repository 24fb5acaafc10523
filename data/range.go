package data

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/internal/base/spelling"
)

// maxRange bounds the columns of one range.
const maxRange = 100_000

// Range is the columns that first..last stands for: with one name and two numbers, as x0..x9,
// those of the numbers between, counting up, wherever they stand (leading zeros, x01..x12, fix
// the number of digits); else all columns from first to last in the order of s. ok is false for
// what is no range: without "..", or the name of a column. Errors say what of s is meant.
//
// Ranges of a formula are written out before rows are read, so that a result names its columns and
// does not depend on their order in one table.
func (s Schema) Range(item string) (columns []string, ok bool, err error) {
	if _, there := s.Lookup(item); there || !strings.Contains(item, "..") {
		return nil, false, nil
	}
	first, last := s.ends(item)
	if prefix, from, to, counted := counting(first, last); counted {
		columns, err = s.counted(prefix, from, to, item)
		return columns, true, err
	}
	i, err := s.end(first, item)
	if err != nil {
		return nil, true, err
	}
	j, err := s.end(last, item)
	if err != nil {
		return nil, true, err
	}
	if j < i {
		return nil, true, fmt.Errorf("range %q: %q comes after %q in the data: write %s..%s", clip(item), clip(first), clip(last), clip(last), clip(first))
	}
	return s[i : j+1].Names(), true, nil
}

// ends cuts a range in two: where both parts are columns, else at the first "..".
func (s Schema) ends(item string) (first, last string) {
	for at := 0; at+1 < len(item); at++ {
		if item[at:at+2] != ".." {
			continue
		}
		first, last := strings.TrimSpace(item[:at]), strings.TrimSpace(item[at+2:])
		_, a := s.Lookup(first)
		_, b := s.Lookup(last)
		if a && b {
			return first, last
		}
	}
	first, last, _ = strings.Cut(item, "..")
	return strings.TrimSpace(first), strings.TrimSpace(last)
}

// end is the place of a column at which a range begins or ends.
func (s Schema) end(name, item string) (int, error) {
	at := slices.IndexFunc(s, func(c Column) bool { return c.Name == name })
	switch near := spelling.Nearest(name, s.Names()); {
	case at >= 0:
		return at, nil
	case name == "":
		return 0, fmt.Errorf("range %q: name the columns at both ends, as first..last", clip(item))
	case near != "":
		return 0, fmt.Errorf("range %q: there is no column %q; did you mean %q?", clip(item), clip(name), clip(near))
	}
	return 0, fmt.Errorf("range %q: there is no column %q: its ends are columns of the data, or one name with two numbers, as x0..x9", clip(item), clip(name))
}

// counting tells a name with two numbers.
func counting(first, last string) (prefix, from, to string, ok bool) {
	prefix, from = numbered(first)
	other, to := numbered(last)
	return prefix, from, to, from != "" && to != "" && prefix == other
}

func numbered(name string) (prefix, digits string) {
	prefix = strings.TrimRight(name, "0123456789")
	return prefix, name[len(prefix):]
}

// counted are the columns of the numbers.
func (s Schema) counted(prefix, from, to, item string) ([]string, error) {
	a, errA := strconv.Atoi(from)
	b, errB := strconv.Atoi(to)
	if errA != nil || errB != nil || b < a || b-a >= maxRange {
		return nil, fmt.Errorf("range %q: the numbers must count up, at most %d columns", clip(item), maxRange)
	}
	width := 0
	if strings.HasPrefix(from, "0") && len(from) > 1 {
		width = len(from)
	}
	there := make(map[string]bool, len(s))
	for _, c := range s {
		there[c.Name] = true
	}
	var names []string
	for i := a; i <= b; i++ {
		name := fmt.Sprintf("%s%0*d", prefix, width, i)
		if !there[name] {
			_, err := s.end(name, item)
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

package online

import "fmt"

// lazily is a text that is made only if it is logged.
type lazily struct {
	format string
	args   []any
}

// String is the text.
func (l lazily) String() string { return fmt.Sprintf(l.format, l.args...) }

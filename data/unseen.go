package data

import (
	"cmp"
	"slices"
	"sync"
)

// UnseenPolicy is what becomes of new rows with a level that training did not have.
type UnseenPolicy int

// The policies.
const (
	UnseenError UnseenPolicy = iota // an *UnseenLevelError
	UnseenDrop                      // the row is left out
	UnseenZero                      // terms of the column add nothing on the row: what the network makes of it is unstructured
)

// ParseUnseen is the policy called error (or nothing), drop or zero; false: it is called nothing of that.
func ParseUnseen(name string) (UnseenPolicy, bool) {
	switch name {
	case "", "error":
		return UnseenError, true
	case "drop":
		return UnseenDrop, true
	case "zero":
		return UnseenZero, true
	}
	return UnseenError, false
}

// UnseenLevels counts rows by the levels that training did not have. The zero value is ready;
// it is safe for concurrent use.
type UnseenLevels struct {
	mu   sync.Mutex
	rows map[UnseenLevel]int64
}

// UnseenLevel is a level of a column, and on how many rows it was.
type UnseenLevel struct {
	Column string `json:"column"`
	Level  string `json:"level"`
	Rows   int64  `json:"rows"`
}

// Add counts one more row.
func (u *UnseenLevels) Add(column, level string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.rows == nil {
		u.rows = map[UnseenLevel]int64{}
	}
	u.rows[UnseenLevel{Column: column, Level: level}]++
}

// Levels lists the levels, by column and level.
func (u *UnseenLevels) Levels() []UnseenLevel {
	u.mu.Lock()
	defer u.mu.Unlock()
	var out []UnseenLevel
	for l, rows := range u.rows {
		l.Rows = rows
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b UnseenLevel) int {
		return cmp.Or(cmp.Compare(a.Column, b.Column), cmp.Compare(a.Level, b.Level))
	})
	return out
}

package data

import (
	"math"
	"strings"
	"sync"
	"sync/atomic"
)

// dictionary numbers the levels of one categorical column for the life of a
// CSV, in the order in which kept rows first show them.
type dictionary struct {
	numeric bool          // cells that are numbers are the level LevelText
	written *notation     // so are the cells
	room    *atomic.Int64 // bytes that all dictionaries of the CSV may still take

	mu     sync.Mutex
	cells  map[string]level // by cell
	codes  map[string]int32 // by level, where cells that differ may be one
	levels []string
}

// level is what a cell of a categorical column is: the code of its level, and its
// number, NaN for text.
type level struct {
	code  int32
	value float64
}

// levelOverhead is about what a dictionary entry takes besides its text.
const levelOverhead = 64

func newDictionary(numeric bool, written *notation, room *atomic.Int64) *dictionary {
	return &dictionary{numeric: numeric, written: written, room: room, cells: map[string]level{}, codes: map[string]int32{}}
}

func (d *dictionary) find(cell string) (level, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l, ok := d.cells[cell]
	return l, ok
}

// known is find for a cell in memory that changes.
func (d *dictionary) known(cell []byte) (level, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l, ok := d.cells[string(cell)]
	return l, ok
}

// add returns the level of a cell, a new one if need be; false if the
// dictionaries are full. It copies the cell.
func (d *dictionary) add(cell string) (level, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l, ok := d.cells[cell]; ok {
		return l, true
	}
	if d.room.Add(-int64(len(cell)+levelOverhead)) < 0 {
		return level{}, false
	}
	cell = strings.Clone(cell)
	l := level{code: int32(len(d.levels)), value: math.NaN()}
	name := cell
	if d.written.isMissing(cell) || d.numeric && d.written.isMissing(trim(cell)) {
		name = MissingLevel
	} else if d.numeric {
		switch v, k := d.written.parse(cell); k {
		case number, truth:
			l.value, name = v, LevelText(v)
		case inexact: // the digits, as LevelText would write them
			name = strings.TrimLeft(strings.TrimLeft(trim(cell), "+-"), "0")
			if trim(cell)[0] == '-' {
				name = "-" + name
			}
		}
	}
	if d.numeric || name == MissingLevel { // cells that differ may be one level
		if code, ok := d.codes[name]; ok {
			l.code = code
		} else {
			d.codes[name] = l.code
		}
	}
	if int(l.code) == len(d.levels) {
		d.levels = append(d.levels, name)
	}
	d.cells[cell] = l
	return l, true
}

// snapshot is the levels so far. Later levels are appended beyond its length,
// so it never changes.
func (d *dictionary) snapshot() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.levels[:len(d.levels):len(d.levels)]
}

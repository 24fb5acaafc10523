package columnar

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/pho-go/pho/data"
)

// dictionary numbers the levels of a column for the life of a source, in the
// order in which kept rows first show them.
type dictionary struct {
	room *atomic.Int64 // bytes left for all dictionaries of the source

	mu     sync.Mutex
	codes  map[string]int32
	levels []string
}

// add returns the code of a level, a new one if need be; false if the
// dictionaries are full. It copies the text.
func (d *dictionary) add(level string) (int32, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if code, ok := d.codes[level]; ok {
		return code, true
	}
	if d.room.Add(-int64(len(level)+levelOverhead)) < 0 {
		return 0, false
	}
	level = strings.Clone(level)
	code := int32(len(d.levels))
	d.codes[level] = code
	d.levels = append(d.levels, level)
	return code, true
}

// snapshot is the levels so far; later ones are appended beyond its length.
func (d *dictionary) snapshot() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.levels[:len(d.levels):len(d.levels)]
}

// coder finds codes for one column in one pass, without locks for levels that
// the pass has met.
type coder struct {
	levels  *dictionary
	text    *Interner
	global  []int32 // by code of text
	numbers map[float64]int32
	local   []int32  // by code of the file's own levels; unseen: not met
	of      []string // the levels that local is for
}

// unseen is a level that no kept row has shown.
const unseen = -1

func newCoder(d *dictionary) *coder {
	return &coder{levels: d, text: NewInterner(), numbers: map[float64]int32{}}
}

func (c *coder) ofText(text []byte) (int32, bool) {
	k := c.text.Code(text)
	if int(k) < len(c.global) {
		return c.global[k], true
	}
	code, ok := c.levels.add(c.text.Names[k])
	if ok {
		c.global = append(c.global, code)
	}
	return code, ok
}

func (c *coder) ofNumber(v float64) (int32, bool) {
	if code, ok := c.numbers[v]; ok {
		return code, true
	}
	code, ok := c.levels.add(data.LevelText(v))
	if ok {
		c.numbers[v] = code
	}
	return code, ok
}

// translate sets the codes of the file's own codes up to the first whose level finds
// no room, and returns its position.
func (c *coder) translate(index []int32, v *Values) int {
	c.follow(v.Levels)
	for i, k := range v.Codes[:len(index)] {
		if c.local[k] == unseen {
			if _, ok := c.ofLevel(k, v.Levels); !ok {
				return i
			}
		}
		index[i] = c.local[k]
	}
	return len(index)
}

// follow makes room for the levels of the file, which may have grown, or be those
// of another part of it.
func (c *coder) follow(levels []string) {
	if len(levels) == len(c.of) && (len(levels) == 0 || &levels[0] == &c.of[0]) {
		return
	}
	if len(levels) < len(c.of) || len(c.of) == 0 || &levels[0] != &c.of[0] {
		c.local = c.local[:0]
	}
	for len(c.local) < len(levels) {
		c.local = append(c.local, unseen)
	}
	c.of = levels
}

// ofLevel finds the code of a level of the file, levels[k].
func (c *coder) ofLevel(k int32, levels []string) (int32, bool) {
	c.follow(levels)
	if code := c.local[k]; code != unseen {
		return code, true
	}
	code, ok := c.levels.add(levels[k])
	if ok {
		c.local[k] = code
	}
	return code, ok
}

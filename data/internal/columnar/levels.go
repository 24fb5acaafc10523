package columnar

import (
	"math"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/pho-go/pho/data"
)

// dictionary numbers the levels of a column for the life of a source, in the
// order in which kept rows first show them.
type dictionary struct {
	room *atomic.Int64 // bytes that all dictionaries of the source may still take

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

// coder finds the codes of one column in one pass. It remembers the levels that the pass
// has met, so that only new ones take the lock of the dictionary.
type coder struct {
	levels      *dictionary
	text        *Interner         // the texts that were met,
	codesOfText []int32           // and their codes
	numbers     map[float64]int32 // codes of the numbers that were met
	digits      bool              // whole numbers are levels digit by digit, as the texts of CSV
	fileLevels  []string          // the levels that the file has itself,
	codesOfFile []int32           // and their codes; noCode: not met
}

// noCode stands for the code of a level that no kept row has shown yet.
const noCode = -1

func newCoder(d *dictionary) *coder {
	return &coder{levels: d, text: NewInterner(), numbers: map[float64]int32{}}
}

func (c *coder) ofText(text []byte) (int32, bool) {
	k := c.text.Code(text)
	if int(k) < len(c.codesOfText) {
		return c.codesOfText[k], true
	}
	code, ok := c.levels.add(c.text.Names[k])
	if ok {
		c.codesOfText = append(c.codesOfText, code)
	}
	return code, ok
}

func (c *coder) ofNumber(v float64) (int32, bool) {
	if code, ok := c.numbers[v]; ok {
		return code, true
	}
	level := data.LevelText(v)
	if c.digits && v == math.Trunc(v) && math.Abs(v) <= 1<<53 {
		level = strconv.FormatInt(int64(v), 10)
	}
	code, ok := c.levels.add(level)
	if ok {
		c.numbers[v] = code
	}
	return code, ok
}

// translate sets the codes of the file's own codes up to the first that is missing, or whose level finds no room, and
// returns its position.
func (c *coder) translate(index []int32, v *Values) int {
	c.follow(v.Levels)
	for i, k := range v.Codes[:len(index)] {
		if k < 0 {
			return i
		}
		if c.codesOfFile[k] == noCode {
			if _, ok := c.ofLevel(k, v.Levels); !ok {
				return i
			}
		}
		index[i] = c.codesOfFile[k]
	}
	return len(index)
}

// follow makes room for the levels of the file, which may have grown, or be those
// of another part of it.
func (c *coder) follow(levels []string) {
	if len(levels) == len(c.fileLevels) && (len(levels) == 0 || &levels[0] == &c.fileLevels[0]) {
		return
	}
	if len(levels) < len(c.fileLevels) || len(c.fileLevels) == 0 || &levels[0] != &c.fileLevels[0] {
		c.codesOfFile = c.codesOfFile[:0]
	}
	for len(c.codesOfFile) < len(levels) {
		c.codesOfFile = append(c.codesOfFile, noCode)
	}
	c.fileLevels = levels
}

// ofLevel finds the code of a level of the file, levels[k].
func (c *coder) ofLevel(k int32, levels []string) (int32, bool) {
	c.follow(levels)
	if code := c.codesOfFile[k]; code != noCode {
		return code, true
	}
	code, ok := c.levels.add(levels[k])
	if ok {
		c.codesOfFile[k] = code
	}
	return code, ok
}

package decimal

// Cells are numbers of lines of CSV that wait to be text: each takes less time among many. The zero value has none.
type Cells struct {
	values []float64
	ends   []int  // how many values there are up to the end of each line
	behind []byte // commas but while AppendTo is at work
}

// enough numbers become text when a line ends: more take no less time each, and few more memory.
const enough = 1024

// Add appends a number to the line.
func (c *Cells) Add(v float64) { c.values = append(c.values, v) }

// EndLine ends the line, of which the last cell is the last number or, where none waits, the last of text. It returns
// text with the numbers that do not wait any more.
func (c *Cells) EndLine(text []byte) []byte {
	if len(c.values) == 0 {
		text[len(text)-1] = '\n'
		return text
	}
	c.ends = append(c.ends, len(c.values))
	if len(c.values) < enough {
		return text
	}
	return c.AppendTo(text)
}

// AppendTo appends all that wait to text, with a comma behind each or, where its line ends, \n. None wait any more.
func (c *Cells) AppendTo(text []byte) []byte {
	for len(c.behind) < len(c.values) {
		c.behind = append(c.behind, ',')
	}
	for _, n := range c.ends {
		c.behind[n-1] = '\n'
	}
	text = appendAll(text, c.values, c.behind)
	for _, n := range c.ends {
		c.behind[n-1] = ','
	}
	c.values, c.ends = c.values[:0], c.ends[:0]
	return text
}

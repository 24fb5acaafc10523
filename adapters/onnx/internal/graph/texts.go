package graph

import "fmt"

// maxTexts bounds the bytes of the texts that a table numbers beyond its base's.
const maxTexts = 1 << 28

// Texts numbers texts. A tensor of type String holds the numbers that a table has given
// its texts, and is moved, compared and chosen from like any tensor of integers; only
// operators that look into a text, or make one, ask the table. The graph's own table
// holds the texts of its constants and does not change once it is read; who runs the
// graph numbers further ones in an extension. Which number a text has says nothing.
type Texts struct {
	base   *Texts // nil for the graph's own
	number map[string]int64
	text   []string
	bytes  int
}

// newTexts is a table with the empty text, number 0.
func newTexts() *Texts { return &Texts{number: map[string]int64{"": 0}, text: []string{""}} }

// Extend is an empty extension of t, which must not grow any more.
func (t *Texts) Extend() *Texts { return &Texts{base: t, number: map[string]int64{}} }

// Len is how many texts have a number: 0 to Len - 1.
func (t *Texts) Len() int { return t.fixed() + len(t.text) }

func (t *Texts) fixed() int {
	if t.base == nil {
		return 0
	}
	return t.base.Len()
}

// Find is the number of s, if it has one.
func (t *Texts) Find(s string) (int64, bool) {
	if t.base != nil {
		if n, ok := t.base.Find(s); ok {
			return n, true
		}
	}
	n, ok := t.number[s]
	return n, ok
}

// Number is the number of s, a new one if need be. It is an error if the texts take
// too much memory.
func (t *Texts) Number(s string) (int64, error) {
	if n, ok := t.Find(s); ok {
		return n, nil
	}
	if t.bytes += len(s) + 48; t.bytes > maxTexts {
		return 0, MemoryError(fmt.Sprintf("the texts of these rows take more than %d bytes; use smaller blocks of rows", maxTexts))
	}
	n := int64(t.Len())
	t.number[s] = n
	t.text = append(t.text, s)
	return n, nil
}

// Text is the text of number n.
func (t *Texts) Text(n int64) string {
	if fixed := int64(t.fixed()); n >= fixed {
		return t.text[n-fixed]
	}
	return t.base.Text(n)
}

// Forget takes the numbers away that an extension has given.
func (t *Texts) Forget() {
	if len(t.text) > 0 {
		clear(t.number)
		t.text, t.bytes = t.text[:0], 0
	}
}

// numberAll gives a constant's texts their numbers.
func (t *Texts) numberAll(c *Tensor, texts []string) error {
	c.I = make([]int64, len(texts))
	for i, s := range texts {
		n, err := t.Number(s)
		if err != nil {
			return err
		}
		c.I[i] = n
	}
	return nil
}

// Package document reads JSON and Universal Binary JSON (UBJSON, draft 12) from front to back. Numbers go
// into slices as they are met, and what nobody asks for is passed over: a model of a gigabyte takes the memory
// of its numbers.
package document

import (
	"errors"
	"fmt"
	"math"
)

// Reader is at a value of a document. Each method but Kind reads it and goes on to the next one. No error is
// undone: after one the Reader is of no use.
type Reader interface {
	// Kind is that of the value.
	Kind() Kind
	// Object calls member with the key of each member, whose value member reads.
	Object(member func(key string) error) error
	// Array calls element for each element, which element reads.
	Array(element func() error) error
	// Text is a string.
	Text() (string, error)
	// Number is a number; true and false are 1 and 0.
	Number() (float64, error)
	// Skip passes over a value of any kind.
	Skip() error
	// Offset is where in the document the Reader is, in bytes.
	Offset() int
	// End is an error unless nothing follows.
	End() error
	// single is a number rounded to float32.
	single() (float32, error)
	// lists is memory for lists that are read.
	lists() *scratch
}

// Kind is that of a value.
type Kind uint8

// The kinds. Truth values are numbers.
const (
	Null Kind = iota
	Number
	Text
	Array
	Object
	Broken // no value begins there
)

func (k Kind) String() string {
	return [...]string{"null", "a number", "a text", "an array", "an object", "no value"}[k]
}

// maxDepth bounds how deep values nest.
const maxDepth = 64

var errDeep = fmt.Errorf("values nest more than %d deep", maxDepth)

// New reads the document: UBJSON if its bytes say so, else JSON.
func New(b []byte) Reader {
	if IsUBJ(b) {
		return &ubj{b: b}
	}
	return &json{b: b}
}

// IsUBJ reports whether the document that begins with b is an object of UBJSON: the type of its first key's
// length, or of its count, follows the brace.
func IsUBJ(b []byte) bool {
	if len(b) < 2 || b[0] != '{' {
		return false
	}
	switch b[1] {
	case 'i', 'U', 'I', 'l', 'L', '#', '$':
		return true
	}
	return false
}

// Keys are the keys of the first members, at most so many, of an object that begins with head.
func Keys(head []byte, most int) (keys []string) {
	r := New(head)
	_ = r.Object(func(key string) error { // the head may break off
		if keys = append(keys, key); len(keys) == most {
			return errEnough
		}
		return r.Skip()
	})
	return keys
}

var errEnough = errors.New("enough is read")

// Floats reads an array of numbers, rounded to float32.
func Floats(r Reader) ([]float32, error) { return list(r, &r.lists().floats, r.single) }

// Ints reads an array of integers.
func Ints(r Reader) ([]int32, error) {
	return list(r, &r.lists().ints, func() (int32, error) {
		v, err := r.Number()
		if err == nil && (v != math.Trunc(v) || math.Abs(v) > math.MaxInt32) {
			err = fmt.Errorf("byte %d: %v is no integer of 32 bits", r.Offset(), v)
		}
		return int32(v), err
	})
}

// Texts reads an array of texts.
func Texts(r Reader) ([]string, error) { return list(r, &r.lists().texts, r.Text) }

// Doubles reads an array of numbers.
func Doubles(r Reader) ([]float64, error) { return list(r, &r.lists().doubles, r.Number) }

// scratch is the memory in which lists grow.
type scratch struct {
	ints    []int32
	floats  []float32
	doubles []float64
	texts   []string
}

func (s *scratch) lists() *scratch { return s }

// list reads an array of what element reads, in scratch, and returns it in memory of its size, nil without elements: models have many lists.
func list[T any](r Reader, scratch *[]T, element func() (T, error)) ([]T, error) {
	own := (*scratch)[:0]
	err := r.Array(func() error {
		v, err := element()
		own = append(own, v)
		return err
	})
	*scratch = own
	return append([]T(nil), own...), err
}

// wanted is the error of a value of another kind.
func wanted(r Reader, k Kind) error {
	if at := r.Kind(); at != Broken {
		return fmt.Errorf("byte %d: there is %s where %s is expected", r.Offset(), at, k)
	}
	return fmt.Errorf("byte %d: %w", r.Offset(), errBroken)
}

var errBroken = errors.New("the file is damaged or ends too early; copy it, or save the model, again")

// Fields reads an object whose members of these keys the functions read; others are passed over. A key that is
// there twice is an error.
func Fields(r Reader, of map[string]func() error) error {
	seen := map[string]bool{}
	return r.Object(func(key string) error {
		read := of[key]
		if read == nil {
			return r.Skip()
		}
		if seen[key] {
			return fmt.Errorf("byte %d: %q is there twice", r.Offset(), key)
		}
		seen[key] = true
		if err := read(); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		return nil
	})
}

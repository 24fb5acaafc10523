package graph

import (
	"errors"
	"fmt"
)

// budget bounds the memory of all constants and the work of folding and of one
// row before either is spent.
type budget struct {
	memory, memoryMax int64 // bytes, at 8 per element
	foldWork, rowWork int64
	workMax           int64
	parts, partsMax   int    // of what control flow and functions are expanded to
	texts             *Texts // of the constants
}

func newBudget(l Limits) *budget {
	return &budget{memory: l.MaxMemory, memoryMax: l.MaxMemory, foldWork: l.MaxWork, rowWork: l.MaxWork, workMax: l.MaxWork, parts: l.MaxElements, partsMax: l.MaxElements, texts: newTexts()}
}

func (b *budget) take(n int, what string, shape []int) error {
	if err := b.fits(n, what, shape); err != nil {
		return err
	}
	b.memory -= 8 * int64(n)
	if b.memory < 0 {
		return MemoryError(fmt.Sprintf("%s of shape %s: the constants together need more than %d bytes (MaxMemory)", what, ShapeText(shape), b.memoryMax))
	}
	return nil
}

// spend takes the multiply-adds of a node: of one row, or of folding.
func (b *budget) spend(work int64, folding bool) error {
	left := &b.rowWork
	if folding {
		left = &b.foldWork
	}
	if *left -= work; *left < 0 {
		return fmt.Errorf("the graph needs more than %d multiply-adds for one row (MaxWork)", b.workMax)
	}
	return nil
}

// expand takes parts: nodes, their inputs and outputs, passes of loops.
func (b *budget) expand(parts int) error {
	if b.parts -= parts; b.parts < 0 {
		return fmt.Errorf("loops, branches and functions expand to more than %d nodes, inputs and outputs (MaxElements)", b.partsMax)
	}
	return nil
}

func (b *budget) fits(n int, what string, shape []int) error {
	if int64(n) > b.memoryMax/8 {
		return MemoryError(fmt.Sprintf("%s of shape %s needs more than %d bytes (MaxMemory)", what, ShapeText(shape), b.memoryMax))
	}
	return nil
}

// ErrMemory is what a MemoryError is.
var ErrMemory = errors.New("onnx: the network needs more memory than is allowed")

// MemoryError says what needs more memory than is allowed.
type MemoryError string

func (e MemoryError) Error() string { return string(e) }

// Is makes it ErrMemory.
func (e MemoryError) Is(target error) bool { return target == ErrMemory }

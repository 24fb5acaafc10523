package kernel

import "unsafe"

// GatherRows copies the given rows of src, width numbers each, one after another to dst. Rows
// in an order drawn at random are in no cache: some are asked for ahead.
func GatherRows[T Float](dst, src []T, width int, rows []int) {
	const ahead = 16
	PrefetchRows(src, width, rows[:min(ahead, len(rows))])
	for i := 0; i < len(rows) && width > 0; i += ahead {
		end := min(i+ahead, len(rows))
		PrefetchRows(src, width, rows[end:min(end+ahead, len(rows))])
		for r, row := range rows[i:end] {
			copy(dst[(i+r)*width:][:width], src[row*width:][:width])
		}
	}
}

// GatherUnits is GatherRows with a result unit by unit.
func GatherUnits[T Float](dst, src []T, width int, rows []int) {
	const ahead = 16
	ld := UnitStride[T](len(rows))
	for i := 0; i < len(rows) && width > 0; i += ahead {
		end := min(i+ahead, len(rows))
		PrefetchRows(src, width, rows[end:min(end+ahead, len(rows))])
		for r, row := range rows[i:end] {
			at := i + r
			for _, x := range src[row*width:][:width] {
				dst[at] = x
				at += ld
			}
		}
	}
}

// prefetch is the argument of the assembly that asks for rows. It knows the offsets of the
// fields.
type prefetch struct {
	src   unsafe.Pointer
	rows  unsafe.Pointer // their numbers
	n     uintptr        // at least one
	bytes uintptr        // of a row, at least one
}

// PrefetchRows asks for the given rows of src, width numbers each, which are read later.
func PrefetchRows[T Float](src []T, width int, rows []int) {
	if len(rows) > 0 && width > 0 {
		runPrefetchRows(&prefetch{src: at(src, 0), rows: unsafe.Pointer(&rows[0]), n: uintptr(len(rows)), bytes: uintptr(width * sizeOf[T]())})
	}
}

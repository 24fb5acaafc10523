package kernel

// Transpose sets dst (cols x rows, row stride ldd) to the transpose of src (rows x cols, row
// stride lds). They don't overlap.
func Transpose[T Float](dst []T, ldd int, src []T, lds, rows, cols int) {
	transpose(best(), dst, ldd, src, lds, rows, cols)
}

func transpose[T Float](s isa, dst []T, ldd int, src []T, lds, rows, cols int) {
	if rows == 0 || cols == 0 {
		return
	}
	within("dst", len(dst), cols, rows, ldd)
	within("src", len(src), rows, cols, lds)
	side := lanes[T](avx2) // of squares, whatever the vectors
	size := uintptr(sizeOf[T]())
	squareRows, squareCols := rows-rows%side, cols-cols%side
	if s == plain || squareRows == 0 || squareCols == 0 {
		squareRows, squareCols = 0, 0
	}
	for i := 0; i < squareRows; i += side {
		runTranspose[T](&squares{src: at(src, i*lds), ss: uintptr(lds) * size, dst: at(dst, i), ds: uintptr(ldd) * size, n: uintptr(squareCols / side)})
	}
	// The columns beside the squares, then the rows below.
	for l := squareCols; l < cols && squareRows > 0; l++ {
		to := dst[l*ldd:][:squareRows]
		for i := range to {
			to[i] = src[i*lds+l]
		}
	}
	for i := squareRows; i < rows; i++ {
		for l, x := range src[i*lds:][:cols] {
			dst[l*ldd+i] = x
		}
	}
}

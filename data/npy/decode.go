package npy

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/pho-go/pho/data/internal/columnar"
)

// item is item k of b; cell is its text if float64 cannot hold it.
func (a *array) item(b []byte, k int) (v float64, cell string) {
	const exact = 1 << 53
	u := a.bits(b[k*a.size : (k+1)*a.size])
	switch a.kind {
	case 'f':
		switch a.size {
		case 2:
			return columnar.Half(uint16(u)), ""
		case 4:
			return float64(math.Float32frombits(uint32(u))), ""
		}
		return math.Float64frombits(u), ""
	case 'b':
		if u != 0 {
			return 1, ""
		}
		return 0, ""
	case 'u':
		if u > exact {
			cell = strconv.FormatUint(u, 10)
		}
		return float64(u), cell
	}
	shift := 64 - 8*a.size
	i := int64(u<<shift) >> shift
	if i > exact || i < -exact {
		cell = strconv.FormatInt(i, 10)
	}
	return float64(i), cell
}

func (a *array) bits(b []byte) uint64 {
	order := binary.ByteOrder(binary.LittleEndian)
	if a.big {
		order = binary.BigEndian
	}
	switch a.size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(order.Uint16(b))
	case 4:
		return uint64(order.Uint32(b))
	}
	return order.Uint64(b)
}

// column decodes every stride-th item from the given one on into dst; fault is
// the first that float64 cannot hold.
func (a *array) column(dst []float64, b []byte, from, stride int) (fault *columnar.Fault) {
	if a.kind == 'f' && a.size == 8 && !a.big {
		for i := range dst {
			dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*(from+i*stride):]))
		}
		return nil
	}
	for i := range dst {
		v, cell := a.item(b, from+i*stride)
		dst[i] = v
		if cell != "" && fault == nil {
			fault = &columnar.Fault{Row: i, Cell: cell, Reason: columnar.Inexact}
		}
	}
	return fault
}

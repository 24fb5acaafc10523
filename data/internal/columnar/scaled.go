package columnar

import (
	"math"
	"math/big"
)

// What the numbers of dates and times count.
const (
	Days     = "days since 1970-01-01"
	Instants = "seconds since 1970-01-01 00:00"
	Clock    = "seconds since midnight"
	Seconds  = "seconds"
)

// Scaled is v/per: a date or time of per units. per is at most 10^18.
func Scaled(v, per int64) float64 {
	const exact = 1 << 53
	if -exact <= v && v <= exact {
		return float64(v) / float64(per)
	}
	return float64(v/per) + float64(v%per)/float64(per)
}

// Decimal is the number that a decimal stands for whose digits are v and of which scale are
// behind the point: the nearest float64.
func Decimal(v int64, scale int) float64 {
	const exact = 1 << 53
	if -exact <= v && v <= exact && 0 <= scale && scale <= 22 {
		return float64(v) / math.Pow10(scale) // both are exact
	}
	return LongDecimal(big.NewInt(v), scale)
}

// LongDecimal is Decimal of any number of digits.
func LongDecimal(v *big.Int, scale int) float64 {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil)
	q := new(big.Rat).SetInt(v)
	if scale < 0 {
		q.Mul(q, new(big.Rat).SetInt(power))
	} else {
		q.Quo(q, new(big.Rat).SetInt(power))
	}
	x, _ := q.Float64()
	return x
}

// MaxScale bounds the scale of decimals, up or down.
const MaxScale = 1000

// DecimalOf is Decimal of digits as bytes in two's complement, the highest first.
func DecimalOf(b []byte, scale int) float64 {
	negative := len(b) > 0 && b[0] >= 0x80
	sign := byte(0)
	if negative {
		sign = 0xff
	}
	for len(b) > 8 && b[0] == sign && (b[1] >= 0x80) == negative {
		b = b[1:]
	}
	if len(b) <= 8 {
		v := int64(int8(sign))
		for _, c := range b {
			v = v<<8 | int64(c)
		}
		return Decimal(v, scale)
	}
	v := new(big.Int).SetBytes(b)
	if negative {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return LongDecimal(v, scale)
}

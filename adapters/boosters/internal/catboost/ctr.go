package catboost

import (
	"errors"
	"fmt"
	"slices"
)

// Table holds statistics of the rows of training by category (CTRs), for which splits ask as they do for numbers.
type Table struct {
	Combination
	Keys   []uint64
	Width  int
	Values []float32 // (Keys + 1) x Width; the last row is that of all other keys
}

// Combination is what makes the key by which a row finds its statistics: the hashes b of columns of Categorical, as signed
// numbers, then the answers b of splits of columns, 1 or 0. From 0 on, modulo 2^64,
//
//	key <- Mixer (key + Mixer b).
type Combination struct {
	Categorical []int
	Splits      []Split
}

// Mixer is the factor of keys.
const Mixer = 0x4906ba494954cb65

func mix(key uint64, b int32) uint64 { return Mixer * (key + Mixer*uint64(int64(b))) }

// unmixed is the b of which alone the key is made; false: it is made of more.
func unmixed(key uint64) (b int32, alone bool) {
	inverse := uint64(Mixer) // modulo 2^3; each step doubles the bits in which it is
	for range 5 {
		inverse *= 2 - Mixer*inverse
	}
	b = int32(uint32(key * inverse * inverse))
	return b, mix(0, b) == key
}

// noKey marks what is empty in a file.
const noKey = 1<<64 - 1

// perByte bounds the numbers of tables by the size of the file.
const perByte = 16

var (
	errNoCounts     = fmt.Errorf("it has no counts for a statistic of categories (CTR): %w", errDamaged)
	errNoCategories = errors.New("a statistic of categories (CTR) is of no categorical column")
	errNoColumn     = errors.New("a statistic of categories (CTR) is of a column that the file does not list")
)

// kind is how a statistic is made of what was counted.
type kind string

const (
	borders         kind = "Borders"                  // the share of rows in target classes above one
	buckets         kind = "Buckets"                  // the share of rows in one target class
	binarizedTarget kind = "BinarizedTargetMeanValue" // the mean of targets
	floatTarget     kind = "FloatTargetMeanValue"
	counter         kind = "Counter" // the number of rows, of that of the most frequent key or of all rows
	featureFreq     kind = "FeatureFreq"
)

// kinds are in the order of ECtrType.
func kinds() []kind {
	return []kind{borders, buckets, binarizedTarget, floatTarget, counter, featureFreq}
}

// kindOf is the kind of that name.
func kindOf(name string) (kind, error) {
	if !slices.Contains(kinds(), kind(name)) {
		return "", fmt.Errorf("its statistics of categories (CTR) are of the kind %.40q, which is not supported: give its predictions", name)
	}
	return kind(name), nil
}

func (k kind) isMean() bool  { return k == binarizedTarget || k == floatTarget }
func (k kind) isCount() bool { return k == counter || k == featureFreq }

// counts are what training counted for a combination: keys x classes numbers of rows.
type counts struct {
	Combination
	kind        kind
	targets     int32 // which ones are counted, of several responses or ways to cut one into classes
	keys        []uint64
	classes     int // of the target; 1 for kinds that do not count by class
	rows        []int32
	sums        []float32 // of the targets of means, by key
	denominator int32     // of kinds that count rows alone
}

// name tells counts apart.
func (c *counts) name() string { return fmt.Sprint(c.kind, c.targets, c.Combination) }

// statistic is a share or mean, shrunk towards a prior and moved to a scale on which borders are.
type statistic struct {
	*counts
	class         int
	prior, weight float32
	shift, scale  float32
	borders       []float32
}

// shrunk is (n + prior)/(total + weight), moved, in float32 as CatBoost has it.
func (s *statistic) shrunk(n, total float32) float32 {
	return ((n+s.prior)/(total+s.weight) + s.shift) * s.scale
}

// of is the statistic of key i; of a key that is none if there is no i.
func (s *statistic) of(i int) float32 {
	var rows []int32
	if i < len(s.keys) {
		rows = s.rows[i*s.classes : (i+1)*s.classes]
	}
	var n, total int32
	for class, count := range rows {
		if total += count; class == s.class && s.kind == buckets || class > s.class && s.kind == borders {
			n += count
		}
	}
	switch {
	case s.kind.isCount():
		return s.shrunk(float32(total), float32(s.denominator))
	case s.kind.isMean() && rows != nil:
		return s.shrunk(s.sums[i], float32(total))
	}
	return s.shrunk(float32(n), float32(total))
}

// check: the class is one of those that were counted.
func (s *statistic) check() error {
	last := s.classes - 1
	if s.kind == borders {
		last--
	}
	if !s.kind.isMean() && !s.kind.isCount() && (s.class < 0 || s.class > last) {
		return fmt.Errorf("a statistic of categories (CTR) of the kind %s is of class %d of %d", s.kind, s.class, s.classes)
	}
	return nil
}

// tables makes the tables of the statistics, at most so many numbers, and returns what splits may ask of them.
func (m *Model) tables(of []statistic, most int) ([]Split, error) {
	var splits []Split
	at := map[*counts]int{}
	for i := range of {
		s := &of[i]
		if err := s.check(); err != nil {
			return nil, err
		}
		t, known := at[s.counts]
		if !known {
			t = len(m.Tables)
			at[s.counts] = t
			m.Tables = append(m.Tables, Table{Combination: s.Combination, Keys: s.keys})
		}
		for _, b := range s.borders {
			splits = append(splits, Split{Of: Statistic, Column: t, Statistic: m.Tables[t].Width, Border: b})
		}
		m.Tables[t].Width++
		if most -= len(s.keys) + 1; most < 0 {
			return nil, errors.New("it has more statistics of categories (CTR) than its size allows")
		}
	}
	column := make([]int, len(m.Tables))
	for i := range of {
		k := at[of[i].counts]
		t := &m.Tables[k]
		if t.Values == nil {
			t.Values = make([]float32, (len(t.Keys)+1)*t.Width)
		}
		for row := range len(t.Keys) + 1 {
			t.Values[row*t.Width+column[k]] = of[i].of(row)
		}
		column[k]++
	}
	for _, t := range m.Tables {
		if len(t.Categorical) == 1 && len(t.Splits) == 0 {
			c := &m.Categorical[t.Categorical[0]]
			for _, key := range t.Keys {
				if b, alone := unmixed(key); alone {
					c.Counted = append(c.Counted, b)
				}
			}
		}
	}
	return splits, nil
}

package decompose

// Sums are what a pass adds up over chunks of rows, in a form that several processes can share:
// the result of Visitor.Map, or the rows that a SummingScanner has seen. Sums of chunks are added
// in a binary tree over chunk numbers (see internal/base/dyadic), so that neither the order in
// which shards come nor their grouping shows in a digit.
type Sums interface {
	// Kind names the type and the version of its encoding, as "importance/1".
	Kind() string
	// Add adds the sums of rows that follow, of the same type and for the same terms; others are
	// an error. next is not used afterwards, so that its memory may be taken.
	Add(next Sums) error
	// MarshalBinary writes all that Add and whoever takes the total need: a process that
	// knows neither network nor terms can read sums, add and write them. Equal sums have equal bytes.
	MarshalBinary() ([]byte, error)
}

// DecodeSums makes sums again of their kind and what MarshalBinary wrote, which may be damaged: errors,
// no panics, and no more memory than a small multiple of len(raw). An unknown kind is an error that names it.
type DecodeSums func(kind string, raw []byte) (Sums, error)

// SummingScanner is a Scanner whose rows several processes may see, each some of them; one
// that needs no scan need be none.
// What scanners collect depends on the set of rows (levels, ranges, counts, samples by a hash of
// the value or the row's number); sums of numbers go by chunks of 4,096 row numbers through the
// tree.
type SummingScanner interface {
	Scanner
	// Sums are what it has seen since it was made or since Again returned true. They depend on
	// the set of rows and their numbers alone, not on order or batches. The scanner is not used afterwards.
	// Rows come in increasing order of their numbers, and shards begin at multiples of 4,096 of these.
	Sums() (Sums, error)
	// Restore is in place of Scan for all rows of s, which it leaves as it is. Sums of other terms are an error.
	Restore(s Sums) error
}

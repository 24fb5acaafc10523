// Package rowhash hashes row numbers. The rows of the smallest hashes are a sample that does not depend on batches, workers or shards.
package rowhash

// Of is the finaliser of SplitMix64 (Steele, Lea and Flood 2014) of a row's number.
func Of(row int64) uint64 {
	x := uint64(row) + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

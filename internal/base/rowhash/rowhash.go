// Package rowhash is by what samples of rows are drawn that batches, workers and shards do not change.
package rowhash

// Of is the finaliser of SplitMix64 of a row's number: rows of the smallest hashes are a sample.
func Of(row int64) uint64 {
	x := uint64(row) + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

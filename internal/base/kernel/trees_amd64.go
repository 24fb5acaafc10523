//go:build amd64 && !purego

package kernel

//go:noescape
func treesAVX512(w *treeWalk)

//go:noescape
func wideTreesAVX512(w *treeWalk)

// runTrees: few are the columns that registers hold.
func runTrees(few bool, w *treeWalk) {
	if few {
		treesAVX512(w)
	} else {
		wideTreesAVX512(w)
	}
}

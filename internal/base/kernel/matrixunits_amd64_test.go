//go:build amd64 && !purego

package kernel

import "golang.org/x/sys/cpu"

// splitsHere says whether the assembly that splits runs, which other processors have, too.
func splitsHere() bool { return best() == avx512 && cpu.X86.HasAVX512BF16 }

package durable

import "sync"

// forgetReplaced makes the system forget what it holds in memory of files that are about to be replaced, in a
// goroutine that has ended when wait returns. They stay as they are, read from the disk from now on. What is written
// takes that memory, where a virtual machine had to ask its host for other, page by page; and it need not be
// given back at the end, when nothing else is left to do.
func forgetReplaced(paths ...string) (wait func()) {
	var forgetting sync.WaitGroup
	forgetting.Go(func() {
		for _, path := range paths {
			forget(path)
		}
	})
	return forgetting.Wait
}

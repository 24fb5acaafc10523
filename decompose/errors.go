package decompose

import "fmt"

// MemoryError says that a run would hold more memory than it may.
type MemoryError struct {
	Need  Memory
	Limit int64 // bytes
}

// Largest is the largest of the parts that something makes smaller; zero if there is
// none.
func (e *MemoryError) Largest() MemoryPart {
	var largest MemoryPart
	for _, p := range e.Need {
		if p.Bytes > largest.Bytes && p.Advice != "" {
			largest = p
		}
	}
	return largest
}

// Error names the parts, and what makes the largest smaller.
func (e *MemoryError) Error() string {
	advice := ""
	if largest := e.Largest(); largest.Name != "" {
		advice = fmt.Sprintf("; the largest is %s: try %s", largest.Name, largest.Advice)
	}
	return fmt.Sprintf("decompose: %s of memory would be needed, %s are allowed (%s)%s", Size(e.Need.Total()), Size(e.Limit), e.Need, advice)
}

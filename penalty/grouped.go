package penalty

const groupedCV Method = 255

type fold struct{}

func (c *criterion) crossValidation(p *point)                {}
func (c *criterion) withFolds(p *Problem, groups []*Problem) {}

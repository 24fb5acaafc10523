package plan

import (
	"fmt"
	"path/filepath"
)

// The passes over the rows.
const (
	Scan    = "scan"    // what terms and options need to see of the rows before the fit
	Fit     = "fit"     // sums that coefficients are solved from
	Explain = "explain" // sums over every row's parts
	Pairs   = "pairs"   // which pairs of columns are added to the formula
)

// Stage is a pass of a plan at its place among the others.
type Stage struct {
	Pass   string `json:"pass"`
	Round  string `json:"round,omitempty"` // which of several of that name
	Digest string `json:"stage"`           // of the plan and of the totals of all passes before
}

// String names the stage for messages.
func (s Stage) String() string {
	if s.Round == "" {
		return fmt.Sprintf("pass %s", s.Pass)
	}
	return fmt.Sprintf("pass %s (%s)", s.Pass, s.Round)
}

// NeededError says which pass comes next.
type NeededError struct{ Stage Stage }

// Error names the pass.
func (e *NeededError) Error() string { return fmt.Sprintf("the total of %s is needed next", e.Stage) }

// stage is that of a pass that comes after the first n that are done.
func (p *Plan) stage(n int, pass, round string) Stage {
	texts := [][]byte{[]byte(p.Digest()), []byte(pass), []byte(round)}
	for _, d := range p.Done[:n] {
		texts = append(texts, []byte(d.SHA256))
	}
	return Stage{pass, round, digest(texts...)}
}

// Target finds the stage that a shard is to be accumulated for: the next one, if it is of that
// pass, else the last recorded one, which a straggler may compute again. before is how many
// passes are recorded before it.
func (p *Plan) Target(pass string) (stage Stage, before int, err error) {
	if p.Next != nil && p.Next.Pass == pass {
		return *p.Next, len(p.Done), nil
	}
	for i := len(p.Done) - 1; i >= 0; i-- {
		if d := p.Done[i]; d.Pass == pass {
			return Stage{d.Pass, d.Round, d.Stage}, i, nil
		}
	}
	switch {
	case p.Next != nil:
		return Stage{}, 0, fmt.Errorf("the plan's next pass is %s, not %s", p.Next.Pass, pass)
	case p.Complete:
		return Stage{}, 0, fmt.Errorf("the plan has no pass %s: everything is done", pass)
	}
	return Stage{}, 0, fmt.Errorf("it is not known which pass comes next: let whoever records totals look at the plan first")
}

// Record notes the total of the stage that comes next in the plan: all of its shards. A total that is
// recorded already is left. at is its place among those recorded.
func (p *Plan) Record(total *Part) (at int, err error) {
	for i, d := range p.Done {
		if d.Stage == total.Stage && d.SHA256 == total.SHA256 {
			return i, nil
		}
	}
	return len(p.Done), p.record(total)
}

func (p *Plan) record(total *Part) error {
	if total.Plan != p.Digest() {
		return fmt.Errorf("it is a part of another plan")
	}
	if p.Next == nil || total.Stage != p.Next.Digest {
		return fmt.Errorf("it is of %s, which is not what comes next in the plan, or other totals were recorded before it: %s", total.title(), p.comes())
	}
	if missing := total.Missing(); len(missing) > 0 {
		return fmt.Errorf("shards are missing: %s of %d; accumulate them and merge", RunsText(missing), total.Of)
	}
	if err := p.sameRows(&total.Header); err != nil {
		return err
	}
	name := fmt.Sprintf("%03d-%s.pho", len(p.Done)+1, total.Pass)
	if err := total.WriteFile(nil, filepath.Join(p.dir, totalsFolder, name)); err != nil {
		return err
	}
	p.Done = append(p.Done, Done{Pass: total.Pass, Round: total.Round, Stage: total.Stage, Total: totalsFolder + "/" + name, SHA256: total.SHA256})
	p.Next, p.Complete = nil, false
	return p.write()
}

// sameRows refuses shards whose rows were others in an earlier pass.
func (p *Plan) sameRows(h *Header) error {
	for i := len(p.Done) - 1; i >= 0; i-- {
		if p.Done[i].Pass == Scan {
			continue
		}
		earlier, err := ReadHeader(filepath.Join(p.dir, filepath.FromSlash(p.Done[i].Total)))
		if err != nil {
			return err
		}
		for j, s := range h.Shards { // both hold all shards, in order
			if was := earlier.Shards[min(j, len(earlier.Shards)-1)]; was.Shard == s.Shard && was.Rows == s.Rows && was.Digest != "" && s.Digest != "" && was.Digest != s.Digest {
				return fmt.Errorf("shard %d: its rows were others, or in another order, in %s: bring the same rows in the same order to every pass, and make this pass over the shard again, or begin with a new plan", s.Shard, earlier.title())
			}
		}
		return nil
	}
	return nil
}

// load reads the total of the pass that was done i-th.
func (p *Plan) load(i int) (*Part, error) {
	d := p.Done[i]
	part, err := ReadPart(filepath.Join(p.dir, filepath.FromSlash(d.Total)))
	if err != nil {
		return nil, err
	}
	if part.SHA256 != d.SHA256 {
		return nil, fmt.Errorf("plan %q: the total %s is not the one that was recorded", p.dir, d.Total)
	}
	return part, nil
}

// RunsText lists runs of numbers, ten at most.
func RunsText(runs [][2]int) string {
	text := ""
	for i, r := range runs {
		if i > 0 {
			text += ", "
		}
		if i == 10 {
			return text + fmt.Sprintf("and %d more runs", len(runs)-i)
		}
		if r[1] == r[0]+1 {
			text += fmt.Sprint(r[0])
		} else {
			text += fmt.Sprintf("%d to %d", r[0], r[1]-1)
		}
	}
	return text
}

func (p *Plan) comes() string {
	if p.Next == nil {
		return "nothing is to come"
	}
	return fmt.Sprintf("%s is to come", *p.Next)
}

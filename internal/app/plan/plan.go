// Package plan cuts a decomposition into pieces that many machines compute: the directory that says
// what is to be done and how far it is, the parts that come of shards of rows, how parts are
// merged, and which pass comes next.
//
// A pass is a replay: whoever has the totals of the passes before does everything from the
// beginning with these in place of the rows, and comes to the next pass by itself (Passes). So
// nothing but totals is handed around, and a plan that is read is a plan that is understood.
package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pho-go/pho/internal/base/durable"
)

// Format names the version of a plan's directory.
const Format = "pho.plan/1"

// File is the document in a plan's directory; totals lie in the folder beside it.
const (
	File         = "plan.json"
	totalsFolder = "totals"
)

// Plan is what plan.json holds.
type Plan struct {
	Format    string `json:"format"`
	CreatedBy string `json:"created_by"`
	// Kernel is the family of floating-point kernels (kernel.Family) whose last digits parts have.
	Kernel string `json:"kernel"`
	// Request holds the options of the decomposition by their names, as given; those left out
	// have their defaults.
	Request map[string][]string `json:"request"`
	Models  []NamedFile         `json:"models"` // networks, one or several
	Labels  *NamedFile          `json:"labels,omitempty"`
	Data    []string            `json:"data,omitempty"` // data files, in the order of rows
	// Survey is what is known of the data files before they are read; nil: Counts.
	Survey json.RawMessage `json:"survey,omitempty"`
	Rows   int64           `json:"rows"` // of all shards
	Shards int             `json:"shards"`
	// Counts are the rows of each shard where whoever accumulates brings them; nil: shards are
	// ranges of the files' rows.
	Counts []int64 `json:"counts,omitempty"`
	// Done are the passes that were made, in order.
	Done []Done `json:"done,omitempty"`
	// Next is the pass that comes next; nil: nobody has looked yet, or none.
	Next *Stage `json:"next,omitempty"`
	// Complete: no pass comes next.
	Complete bool `json:"complete,omitempty"`

	dir string // "": of no directory yet
}

// NamedFile is a file by its place, seen from the plan's directory (or a URL), and its content.
type NamedFile struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`

	// Form is the request that a model behind an address is asked, and SHA256 is its digest; nil: the model is a file.
	Form json.RawMessage `json:"form,omitempty"`
}

// Done is a pass whose total is recorded.
type Done struct {
	Pass   string `json:"pass"`
	Round  string `json:"round"`
	Stage  string `json:"stage"`  // digest of the plan and of all totals before
	Total  string `json:"total"`  // file in the plan's folder of totals
	SHA256 string `json:"sha256"` // of that file
	// Solved is what a fit came to, without its ending, beside the total; "": it is not kept.
	Solved string `json:"solved,omitempty"`
	Lost   bool   `json:"lost,omitempty"` // the fit had too few digits, and is made by the factor
}

// ErrOther says that a directory holds another plan.
var ErrOther = errors.New("it holds another plan")

// Digest hashes everything that parts depend on: the plan without its progress and the places of files.
func (p *Plan) Digest() string {
	c := *p
	c.Done, c.Data, c.CreatedBy, c.Next, c.Complete = nil, nil, "", nil, false
	c.Models = append([]NamedFile(nil), p.Models...)
	for i := range c.Models {
		c.Models[i].Path = ""
	}
	if c.Labels != nil {
		c.Labels = &NamedFile{SHA256: c.Labels.SHA256}
	}
	text, err := json.Marshal(&c)
	if err != nil { // its survey is no JSON
		text = []byte(err.Error())
	}
	return digest(text)
}

// digest is the SHA-256 of texts, each behind its length.
func digest(texts ...[]byte) string {
	h := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(h, "%d\n", len(t))
		h.Write(t)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Dir is the plan's directory.
func (p *Plan) Dir() string { return p.dir }

// Open reads the plan in dir.
func Open(dir string) (*Plan, error) {
	raw, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		return nil, fmt.Errorf("%q is not a plan's directory: %s: %w", dir, File, durable.Reason(err))
	}
	p, err := decode(raw)
	if err != nil {
		return nil, fmt.Errorf("plan %q: %s: %w", dir, File, err)
	}
	p.dir = dir
	return p, nil
}

// decode reads and checks a document.
func decode(raw []byte) (*Plan, error) {
	p := new(Plan)
	if err := json.Unmarshal(raw, p); err != nil {
		return nil, fmt.Errorf("it is no plan, or damaged: %w", err)
	}
	if p.Format != Format {
		return nil, fmt.Errorf("format %q is not readable here, this is %q; is the plan from another version?", p.Format, Format)
	}
	if p.Shards < 1 || p.Rows < 0 || len(p.Models) == 0 && len(p.Request["predictions"]) == 0 || p.Counts != nil && len(p.Counts) != p.Shards {
		return nil, errors.New("it is damaged: shards, rows or networks are missing")
	}
	for _, d := range p.Done {
		if !filepath.IsLocal(d.Total) || d.Solved != "" && !filepath.IsLocal(d.Solved) {
			return nil, fmt.Errorf("it is damaged: the total %q lies outside of the plan", d.Total)
		}
	}
	return p, nil
}

// Create writes the plan into dir, which is absent, empty, or as a Create that was killed left it;
// or which holds the same plan already: then that is left as it is, with what was done, and
// there is true.
func (p *Plan) Create(dir string) (there bool, err error) {
	p.Format = Format
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("%q cannot be written: %w", dir, durable.Reason(err))
	}
	if len(entries) > 0 {
		earlier, err := Open(dir)
		switch {
		case err == nil && earlier.Digest() != p.Digest():
			return false, fmt.Errorf("%q: %w, of other options, rows, shards or networks: give a new directory, or remove it", dir, ErrOther)
		case err == nil:
			*p = *earlier
			return true, nil
		case !begun(dir, entries):
			return false, fmt.Errorf("%q is neither empty nor a plan: give a new directory", dir)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, totalsFolder), 0o777); err != nil {
		return false, fmt.Errorf("%q cannot be written: %w", dir, durable.Reason(err))
	}
	p.dir = dir
	return false, p.write()
}

// begun tells whether a directory holds nothing but what a Create that was killed leaves.
func begun(dir string, entries []fs.DirEntry) bool {
	for _, e := range entries {
		if finished, unfinished := durable.Named(e.Name()); unfinished && finished == File {
			continue
		}
		if inside, err := os.ReadDir(filepath.Join(dir, e.Name())); e.Name() != totalsFolder || err != nil || len(inside) > 0 {
			return false
		}
	}
	return true
}

func (p *Plan) write() error {
	return durable.WriteFile(filepath.Join(p.dir, File), func(f *os.File) error {
		e := json.NewEncoder(f)
		e.SetIndent("", "  ")
		return e.Encode(p)
	})
}

// Settle notes which pass comes next, nil: none.
func (p *Plan) Settle(next *Stage) error {
	p.Next, p.Complete = next, next == nil
	return p.write()
}

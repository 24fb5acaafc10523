package drift

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// State is what is known of the periods of one decomposition. It is not safe for concurrent use.
type State struct {
	of       Decomposition
	settings Settings
	layout   layout
	cells    map[string]*cell
	sources  []Source // by ID
}

// Source is a set of rows that were added together: a file, or what a service saw in a minute.
type Source struct {
	// ID is the SHA-256 of a file, or any name that no other rows will have: rows of the same
	// ID are not added twice.
	ID   string `json:"id"`
	Name string `json:"name,omitempty"` // for people: the file's name without folders
	Rows int64  `json:"rows"`           // of positive weight
}

// New is a state without rows.
func New(of Decomposition, settings Settings) (*State, error) {
	if err := of.check(); err != nil {
		return nil, err
	}
	if err := settings.check(); err != nil {
		return nil, err
	}
	return &State{of: of, settings: settings, layout: of.layout(settings.Response != ""), cells: map[string]*cell{}}, nil
}

// Decomposition is the one whose parts the state is of. Its slices are the state's own.
func (s *State) Decomposition() Decomposition { return s.of }

// Settings are those it was made with.
func (s *State) Settings() Settings { return s.settings }

// Sources are the sets of rows in it, by ID. They are the state's own.
func (s *State) Sources() []Source { return s.sources }

// Has tells whether rows of that ID are there.
func (s *State) Has(id string) bool {
	_, ok := slices.BinarySearchFunc(s.sources, id, func(o Source, id string) int { return strings.Compare(o.ID, id) })
	return ok
}

// Periods are the periods in the order of their names, which for times is that of time.
func (s *State) Periods() []string { return slices.Sorted(maps.Keys(s.cells)) }

// Merge adds the rows of o, which stays as it is: o has to be of the same decomposition and
// settings, and of other sources. In whatever order and grouping states are merged, the result
// is the same to the last bit. After an error s is as it was.
//
// The same rows in two sources of different IDs (a copy of a file that differs in a byte) count
// twice: nothing here can know.
func (s *State) Merge(o *State) error {
	if err := s.fits(o); err != nil {
		return err
	}
	return s.include(o.cells, o.sources)
}

// fits refuses a state of another decomposition or of other settings.
func (s *State) fits(o *State) error {
	if err := s.sameParts(o); err != nil {
		return err
	}
	if s.settings != o.settings {
		return fmt.Errorf("drift: the two count rows in different ways: %s, and %s", s.settings, o.settings)
	}
	return nil
}

// sameParts refuses a state of another decomposition, or one that describes the same one in another way.
func (s *State) sameParts(o *State) error {
	if s.of.SHA256 != o.of.SHA256 || s.of.Network != o.of.Network {
		return errors.New("drift: the two are of different decompositions, whose parts cannot be compared: add the rows of both to states of one decomposition")
	}
	a, errA := json.Marshal(s.of)
	b, errB := json.Marshal(o.of)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		return errors.New("drift: the two name other parts or columns of what is the same decomposition: it was made anew of other rows, or one of the two was edited")
	}
	return nil
}

// include adds cells and sources, all or nothing.
func (s *State) include(cells map[string]*cell, sources []Source) error {
	for _, source := range sources {
		if s.Has(source.ID) {
			return &TwiceError{source}
		}
	}
	merged := map[string]*cell{}
	for period, c := range cells {
		own := s.cells[period]
		if own == nil {
			merged[period] = c.clone()
			continue
		}
		sum := own.clone()
		if err := sum.merge(c); err != nil {
			return fmt.Errorf("drift: period %q: %w", period, err)
		}
		merged[period] = sum
	}
	maps.Copy(s.cells, merged)
	s.sources = append(s.sources, sources...)
	slices.SortFunc(s.sources, func(a, b Source) int { return strings.Compare(a.ID, b.ID) })
	return nil
}

// TwiceError says that rows are there already.
type TwiceError struct{ Source Source }

// Error names them.
func (e *TwiceError) Error() string {
	name := e.Source.Name
	if name == "" {
		name = e.Source.ID
	}
	return fmt.Sprintf("drift: the %d rows of %q are there already, and would count twice", e.Source.Rows, clip(name))
}

// String says how rows are counted.
func (s Settings) String() string {
	out := []string{"periods named by the caller"}
	if s.Time != "" {
		out[0] = fmt.Sprintf("periods by %s of column %q", s.By, s.Time)
		if s.By != Label {
			zone := s.Zone
			if zone == "" {
				zone = "UTC"
			}
			out[0] += " (" + zone + ")"
		}
	}
	if s.Weights != "" {
		out = append(out, fmt.Sprintf("weights %q", s.Weights))
	}
	if s.Response != "" {
		out = append(out, fmt.Sprintf("response %q", s.Response))
	}
	switch {
	case s.Block > 1:
		out = append(out, fmt.Sprintf("blocks of %d consecutive rows", s.Block))
	case s.Cluster != "":
		out = append(out, "rows of one "+s.Cluster+" depend on each other")
	default:
		out = append(out, "rows taken as independent")
	}
	return strings.Join(out, ", ")
}

package serve

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/data"
)

// hello is the first frame of a process.
type hello struct {
	Protocol   int      `json:"protocol"`
	CreatedBy  string   `json:"created_by"`
	Columns    []Column `json:"columns"`
	Predictors []string `json:"predictors"`
	Parts      []string `json:"parts"`
	PartsSE    []string `json:"parts_se"`
	Warnings   []string `json:"warnings,omitempty"`
	MaxHeader  int      `json:"max_header"`
	MaxPayload int      `json:"max_payload"`
}

// request is the header of a client's frame.
type request struct {
	ID   uint64 `json:"id"`
	Op   string `json:"op"`   // apply, or cancel
	Rows int    `json:"rows"` // of an apply
	// Columns are the payload's columns, in order; left out: the hello's.
	Columns []string `json:"columns"`
	// Texts are the levels of columns of text, whose values are int32 codes, -1 for missing;
	// other columns are float64, NaN for missing, and arrays those of one row after the other.
	Texts map[string][]string `json:"texts"`
	SE    bool                `json:"se"`
	NA    string              `json:"na"` // error (or nothing), drop or keep
	// Unseen is error, drop or zero; left out: as the server was told.
	Unseen string `json:"unseen"`
}

// answer is the header of a frame that answers a request. The payload has the parts of all
// rows, one after the other.
type answer struct {
	ID      uint64 `json:"id"`
	Rows    int    `json:"rows"`
	Dropped int    `json:"dropped,omitempty"`
	// Unseen are levels that training did not have.
	Unseen []data.UnseenLevel `json:"unseen,omitempty"`
	Error  string             `json:"error,omitempty"`
	Usage  bool               `json:"usage,omitempty"`     // the request is wrong, whatever the rows hold
	Cancel bool               `json:"cancelled,omitempty"` // it was cancelled
}

// how says how the rows are split; unseen is what the server was told.
func (q *request) how(unseen data.UnseenPolicy) (how How, err error) {
	how = How{SE: q.SE, Unseen: unseen}
	switch q.NA {
	case "", "error":
	case "drop":
		how.NA = data.NADrop
	case "keep":
		how.NA = data.NAKeep
	default:
		return how, fmt.Errorf("na %q: it is error, drop or keep", q.NA)
	}
	if q.Unseen != "" {
		var ok bool
		if how.Unseen, ok = data.ParseUnseen(q.Unseen); !ok {
			return how, fmt.Errorf("unseen %q: it is error, drop or zero", q.Unseen)
		}
	}
	return how, nil
}

// maxCells bounds rows times columns of an answer.
const maxCells = MaxPayload / 8

// rows decodes the payload's rows; columns are the hello's.
func (q *request) rows(columns []Column, payload []byte, parts int) (*Rows, error) {
	columns = q.sent(columns)
	if q.Rows < 0 {
		return nil, fmt.Errorf("%d rows are not possible", q.Rows)
	}
	if parts > 0 && q.Rows > maxCells/parts {
		return nil, fmt.Errorf("%d rows of %d parts do not fit into an answer: send at most %d at a time", q.Rows, parts, maxCells/parts)
	}
	want := 0
	for _, c := range columns {
		want += q.width(c)
	}
	if want > 0 && q.Rows > MaxPayload/want || q.Rows*want != len(payload) {
		return nil, fmt.Errorf("the payload has %d bytes; %d rows of %d columns have %d: 8 for each number, 4 for each code of a text", len(payload), q.Rows, len(columns), int64(q.Rows)*int64(want))
	}
	rows := NewRows(q.Rows)
	var faults []error
	for _, c := range columns {
		var own []byte
		own, payload = payload[:q.Rows*q.width(c)], payload[q.Rows*q.width(c):]
		levels, text := q.Texts[c.Name]
		switch {
		case text:
			faults = append(faults, rows.AddCodes(c.Name, data.Codes{Index: codes(own), Levels: levels}))
		case c.Shape != nil:
			faults = append(faults, rows.AddTensor(c.Name, c.Shape, numbers(own)))
		default:
			faults = append(faults, rows.AddNumeric(c.Name, numbers(own)))
		}
	}
	return rows, errors.Join(faults...)
}

// sent are the columns of the payload.
func (q *request) sent(known []Column) []Column {
	if q.Columns == nil {
		return known
	}
	columns := make([]Column, len(q.Columns))
	for i, name := range q.Columns {
		columns[i].Name = name
		if at := slices.IndexFunc(known, func(c Column) bool { return c.Name == name }); at >= 0 {
			columns[i] = known[at]
		}
	}
	return columns
}

// width is the number of bytes of a row of the column.
func (q *request) width(c Column) int {
	if _, text := q.Texts[c.Name]; text {
		return 4
	}
	return 8 * c.Width()
}

func numbers(b []byte) []float64 {
	v := make([]float64, len(b)/8)
	for i := range v {
		v[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return v
}

func codes(b []byte) []int32 {
	v := make([]int32, len(b)/4)
	for i := range v {
		v[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}

func appendNumbers(b []byte, v []float64) []byte {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

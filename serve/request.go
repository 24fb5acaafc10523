package serve

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

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
	// Columns are those of the payload, in order; left out: those of the hello.
	Columns []string `json:"columns"`
	// Texts are the levels of columns of text, whose values are int32 codes, -1 for missing;
	// other columns are float64, NaN for missing.
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

// maxCells bounds rows times columns of what is computed for a request: what fits into an
// answer.
const maxCells = MaxPayload / 8

// rows are those of the payload.
func (q *request) rows(columns []string, payload []byte, parts int) (*Rows, error) {
	if q.Columns != nil {
		columns = q.Columns
	}
	if q.Rows < 0 {
		return nil, fmt.Errorf("%d rows are not possible", q.Rows)
	}
	if parts > 0 && q.Rows > maxCells/parts {
		return nil, fmt.Errorf("%d rows of %d parts do not fit into an answer: send at most %d at a time", q.Rows, parts, maxCells/parts)
	}
	want := 0
	for _, name := range columns {
		want += q.width(name)
	}
	if want > 0 && q.Rows > MaxPayload/want || q.Rows*want != len(payload) {
		return nil, fmt.Errorf("the payload has %d bytes; %d rows of %d columns have %d: 8 for each number, 4 for each code of a text", len(payload), q.Rows, len(columns), int64(q.Rows)*int64(want))
	}
	rows := NewRows(q.Rows)
	var faults []error
	for _, name := range columns {
		var own []byte
		own, payload = payload[:q.Rows*q.width(name)], payload[q.Rows*q.width(name):]
		if levels, text := q.Texts[name]; text {
			faults = append(faults, rows.AddCodes(name, data.Codes{Index: codes(own), Levels: levels}))
		} else {
			faults = append(faults, rows.AddNumeric(name, numbers(own)))
		}
	}
	return rows, errors.Join(faults...)
}

// width is the number of bytes of a value of the column.
func (q *request) width(column string) int {
	if _, text := q.Texts[column]; text {
		return 4
	}
	return 8
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

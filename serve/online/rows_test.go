package online_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/pho-go/pho/serve/online"
)

// plainRows are rows from to to-1 as objects.
func plainRows(from, to int) (rows []map[string]any) {
	for i := from; i < to; i++ {
		row := map[string]any{"g": level(i), "note": "nothing reads this"}
		for _, name := range numeric {
			row[name] = cell(name, i)
		}
		rows = append(rows, row)
	}
	return rows
}

// answeredRows is an answer with plain rows.
type answeredRows struct {
	Version    string `json:"model_version"`
	ID, Error  string
	Parameters map[string]any
	Rows       []map[string]*float64
	status     int
}

func postJSON(t *testing.T, url string, request, to any) (status int) {
	t.Helper()
	text, ok := request.(string)
	if !ok {
		raw, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		text = string(raw)
	}
	r, err := http.Post(url, "application/json", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	raw, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.NewDecoder(bytes.NewReader(raw)).Decode(to)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return r.StatusCode
}

func postRows(t *testing.T, url string, request any) (a answeredRows) {
	t.Helper()
	a.status = postJSON(t, url, request, &a)
	return a
}

// TestRows: the parts of plain rows are the Explainer's, bit for bit, by their names.
func TestRows(t *testing.T) {
	t.Parallel()
	dir, _ := two(t)
	url := started(t, nil, dir) + "/v2/models/a/rows"
	for _, se := range []bool{false, true} {
		parts, names, version := want(t, dir, se)
		got := postRows(t, url, map[string]any{"rows": plainRows(20, 40), "id": "7", "parameters": map[string]any{"se": se}})
		if got.status != 200 || got.Version != version || got.ID != "7" || len(got.Rows) != 20 {
			t.Fatalf("%+v", got)
		}
		for i, row := range got.Rows {
			if len(row) != len(names) {
				t.Fatalf("row %d has %d parts, %v", i, len(row), row)
			}
			for k, name := range names {
				if v := row[name]; v == nil && !math.IsNaN(parts[k][20+i]) || v != nil && !equal(*v, parts[k][20+i]) {
					t.Errorf("row %d, %s: %v, want %v", i, name, v, parts[k][20+i])
				}
			}
		}
	}
	rows := plainRows(0, 3)
	rows[1]["x0"] = nil
	if got := postRows(t, url, map[string]any{"rows": rows, "parameters": map[string]any{"na": "drop"}}); len(got.Rows) != 3 || got.Rows[0]["eta"] == nil || got.Rows[1]["eta"] != nil || len(got.Rows[1]) != len(got.Rows[0]) {
		t.Errorf("a row left out: %+v", got)
	}
	if got := postRows(t, url, map[string]any{"rows": plainRows(0, 2), "outputs": []any{map[string]any{"name": "s(x1)"}}}); len(got.Rows) != 2 || len(got.Rows[0]) != 1 || got.Rows[0]["s(x1)"] == nil {
		t.Errorf("one part: %+v", got)
	}
	if got := postRows(t, url, `{"rows": []}`); got.status != 200 || got.Rows == nil || len(got.Rows) != 0 {
		t.Errorf("no rows: %+v", got)
	}
	west := plainRows(0, 2)
	west[1]["g"] = "west"
	if got := postRows(t, url, map[string]any{"rows": west, "parameters": map[string]any{"unseen": "zero"}}); got.status != 200 || got.Parameters["unseen"] == nil {
		t.Errorf("unseen: %+v", got)
	}
	var explained struct {
		Rows []struct {
			Predictors []struct{ Eta float64 }
		}
	}
	parts, names, _ := want(t, dir, false)
	if postJSON(t, strings.TrimSuffix(url, "rows")+"explain", map[string]any{"rows": plainRows(5, 6)}, &explained); len(explained.Rows) != 1 || explained.Rows[0].Predictors[0].Eta != parts[len(names)-1][5] {
		t.Errorf("explain: %+v", explained)
	}
}

// TestRowsRefused: what is wrong is told with its row and column, as of tensors and files.
func TestRowsRefused(t *testing.T) {
	t.Parallel()
	dir, _ := two(t)
	url := started(t, &online.Options{MaxRows: 50}, dir) + "/v2/models/a/rows"
	change := func(column string, v any) any {
		rows := plainRows(0, 2)
		if rows[1][column] = v; v == "nothing" {
			delete(rows[1], column)
		}
		return map[string]any{"rows": rows}
	}
	misspelt := plainRows(0, 2)
	for _, row := range misspelt {
		row["gg"] = row["g"]
		delete(row, "g")
	}
	for says, request := range map[string]any{
		`data row 2: level "west" of column "g" did not occur`:                   change("g", "west"),
		`no column "x3" in data row 2`:                                           change("x3", "nothing"),
		`no column "g" in the rows; the nearest name is "gg"`:                    map[string]any{"rows": misspelt},
		`column "x3", data row 2: data: a value is missing`:                      change("x3", nil),
		`data row 2: column "x3" is a text, and a number in rows before it`:      change("x3", "7"),
		`data row 2: column "g" is a number, and a text in rows before it`:       change("g", 7),
		`data row 2: column "x3" is an array, and a number in rows before it`:    change("x3", []int{1}),
		`51 rows; this server takes 50`:                                          map[string]any{"rows": plainRows(0, 51)},
		`no parameter "reason"`:                                                  map[string]any{"rows": plainRows(0, 1), "parameters": map[string]any{"reason": 1}},
		`the JSON ends where`:                                                    `{"rows": [`,
		`the request has no inputs and no rows`:                                  `{}`,
		`input "g" takes texts, and has true and false: send its levels as text`: `{"rows": [{"g": true}]}`,
		`input "x0" has 2 values a row (shape [1 2]), and takes 1`:               `{"rows": [{"x0": [1, 2]}]}`,
		`column "x0" holds text, where numbers are needed`:                       `{"rows": [` + text(plainRows(0, 1)[0], "x0", "7") + `]}`,
		`there is no output "s(x9)"`:                                             map[string]any{"rows": plainRows(0, 1), "outputs": []any{map[string]any{"name": "s(x9)"}}},
	} {
		if got := postRows(t, url, request); got.status < 400 || got.status >= 500 || !strings.Contains(got.Error, says) {
			t.Errorf("%d %q, want %s", got.status, got.Error, says)
		}
	}
}

// text is a row in JSON, with another cell.
func text(row map[string]any, column string, cell any) string {
	row[column] = cell
	text, err := json.Marshal(row)
	if err != nil {
		panic(err)
	}
	return string(text)
}

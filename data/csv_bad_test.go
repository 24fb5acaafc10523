package data

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
)

// numbersThen is more rows than decide a column's kind, then the given ones.
func numbersThen(rows string) string {
	return "x,y\n" + strings.Repeat("1,2\n", kindRows) + rows
}

// TestCSVBadInput has one case for each thing that can be wrong with a file,
// with the whole message.
func TestCSVBadInput(t *testing.T) {
	small := defaultLimits()
	small.record, small.columns, small.dictionary = 100, 5, 3*(levelOverhead+2)
	for name, c := range map[string]struct {
		files  map[string]string
		paths  string // blank-separated; "": a.csv
		o      CSVOptions
		limits *limits
		column string // requested besides x; "-": none at all
		want   string
	}{
		"empty file":       {files: map[string]string{"a.csv": ""}, want: `data: "a.csv" is empty: its first line must name the columns`},
		"only blank lines": {files: map[string]string{"a.csv": "\n\n\r\n"}, want: `data: "a.csv" is empty: its first line must name the columns`},
		"no file":          {paths: "b.csv", want: `data: cannot read "b.csv": no such file or directory`},
		"no paths":         {paths: " ", want: `data: no data files`},
		"directory":        {paths: ".", want: `data: "." is a directory: name the files in it`},
		"device":           {paths: os.DevNull, want: `data: "/dev/null" is a device: name a file, a pipe or -`},
		"no stdin":         {paths: "-", want: `data: "-" stands for standard input, but there is none`},
		"stdin twice":      {paths: "- -", o: CSVOptions{Stdin: strings.NewReader("x\n1\n")}, want: `data: "-" is given twice, but a stream can be read only once`},
		"delimiter":        {o: CSVOptions{Delimiter: 'x'}, want: `data: 'x' cannot be the delimiter: use a comma, semicolon, tab or another ASCII mark`},
		"wide delimiter":   {o: CSVOptions{Delimiter: '¦'}, want: `data: '¦' cannot be the delimiter: use a comma, semicolon, tab or another ASCII mark`},
		"batch":            {o: CSVOptions{BatchRows: -1}, want: `data: batches of -1 rows are not possible`},
		"policy":           {o: CSVOptions{NA: 7}, want: `data: unknown policy 7 for missing cells`},

		"duplicate name": {files: map[string]string{"a.csv": "x,y,x\n1,2,3\n"}, want: `data: "a.csv", line 1 (header): columns 1 and 3 are both named "x"; rename one`},
		"blanks differ":  {files: map[string]string{"a.csv": "x, x\n1,2\n"}, want: `data: "a.csv", line 1 (header): columns 1 and 2 are both named "x"; rename one`},
		"empty name":     {files: map[string]string{"a.csv": "x,\n1,2\n"}, want: `data: "a.csv", line 1 (header): column 2 has no name; name it, or leave row names out when writing the file (row.names = FALSE in R, index=False in pandas)`},
		"latin-1 name":   {files: map[string]string{"a.csv": "x,Gr\xf6sse\n1,2\n"}, want: `data: "a.csv", line 1 (header): the name "Gr\xf6sse" of column 2 is not UTF-8; convert the file first`},
		"old Mac":        {files: map[string]string{"a.csv": "x\r1\r2\r"}, want: `data: "a.csv", line 1 (header): the name "x\r1\r2" of column 1 holds a control character; is this CSV, with lines that end in \n or \r\n?`},
		"binary":         {files: map[string]string{"a.csv": "PAR1\x15\x04\x00\x00"}, want: `data: "a.csv", line 1 (header): the name "PAR1\x15\x04\x00\x00" of column 1 holds a control character; is this CSV, with lines that end in \n or \r\n?`},
		"UTF-16":         {files: map[string]string{"a.csv": "\xff\xfex\x00\n\x00"}, want: `data: reading "a.csv": the text is UTF-16: save it as UTF-8`},

		"headers of other names": {files: map[string]string{"a.csv": "x,y\n1,2\n", "b.csv": "x,z\n1,2\n"}, paths: "a.csv b.csv",
			want: `data: "b.csv" has no column "y", which "a.csv" has: files of one table need the columns of the first`},
		"headers of other widths": {files: map[string]string{"a.csv": "x,y\n1,2\n", "b.csv": "x\n1\n"}, paths: "a.csv b.csv",
			want: `data: "b.csv" has no column "y", which "a.csv" has: files of one table need the columns of the first`},

		"short row":          {files: map[string]string{"a.csv": "x,y\n1,2\n3\n"}, want: `data: "a.csv", line 3 (row 2): the row has 1 cell, the header 2; put cells that hold the delimiter in quotes`},
		"long row":           {files: map[string]string{"a.csv": "x,y\n1,2\n\n3,4,5\n"}, want: `data: "a.csv", line 4 (row 2): the row has 3 cells, the header 2; put cells that hold the delimiter in quotes`},
		"late ragged row":    {files: map[string]string{"a.csv": numbersThen("3\n")}, want: `data: "a.csv", line 4098 (row 4097): the row has 1 cell, the header 2; put cells that hold the delimiter in quotes`},
		"quoted names":       {files: map[string]string{"a.csv": "\"x\";\"y\"\n1,5;\"b\"\n"}, want: `data: "a.csv": the header is the single name "x;y", and the rows look alike: the cells seem to be separated by ";", not by commas`},
		"bare quote":         {files: map[string]string{"a.csv": "x,y\n1,2\n3,4\"\n"}, want: `data: "a.csv", line 3 (row 2): a quote is out of place at byte 4 of the line; cells with quotes are written "like ""this"""`},
		"quote in header":    {files: map[string]string{"a.csv": "x,\"y\"z\n1,2\n"}, want: `data: "a.csv", line 1 (header): a quote is out of place at byte 5 of the line; cells with quotes are written "like ""this"""`},
		"open quote":         {files: map[string]string{"a.csv": "x,y\n1,\"2\n3,4\n"}, want: `data: "a.csv", line 3 (row 1): a quote is out of place at byte 5 of the line; cells with quotes are written "like ""this""" (the row begins in line 2)`},
		"record too long":    {files: map[string]string{"a.csv": "x\n1\n\"" + strings.Repeat("a", 200) + "\"\n"}, limits: &small, want: `data: "a.csv", line 3 (row 2): the row is longer than 100 bytes: is a quote left open, or is this not CSV?`},
		"too many columns":   {files: map[string]string{"a.csv": "a,b,c,d,e,f\n"}, limits: &small, want: `data: "a.csv", line 1 (header): the row has more than 5 cells: is this CSV?`},
		"too many levels":    {files: map[string]string{"a.csv": "x\naa\nbb\naa\ncc\ndd\n"}, limits: &small, want: `data: "a.csv", line 6 (row 5), column "x": cell "dd" is one level too many: the levels of all columns take more memory than allowed; leave out columns that name single rows`},
		"not gzip after all": {files: map[string]string{"a.csv": "\x1f\x8b no"}, want: `data: reading "a.csv": the gzip data is cut off or damaged (unexpected EOF): fetch or compress the file again`},
		"cut gzip":           {files: map[string]string{"a.csv": zip(t, "x\n1\n2\n")[:25]}, want: `data: reading "a.csv" after row 2: the gzip data is cut off or damaged (unexpected EOF): fetch or compress the file again`},
		"gzip and more":      {files: map[string]string{"a.csv": zip(t, "x\n1\n2\n") + "and more, and yet more"}, want: `data: reading "a.csv" after row 2: the gzip data is cut off or damaged (gzip: invalid header): fetch or compress the file again`},

		"late text":        {files: map[string]string{"a.csv": numbersThen("oops,3\n")}, want: `data: "a.csv", line 4098 (row 4097), column "x": cell "oops" is text in a column of numbers; correct it, or hold the column as categories`},
		"late text, quote": {files: map[string]string{"a.csv": "x,my col\n" + strings.Repeat("1,2\n", kindRows) + "1,2 km\n"}, column: "my col", want: `data: "a.csv", line 4098 (row 4097), column "my col": cell "2 km" is text in a column of numbers; correct it, or hold the column as categories`},
		"late hexadecimal": {files: map[string]string{"a.csv": numbersThen("0x10,3\n")}, want: `data: "a.csv", line 4098 (row 4097), column "x": cell "0x10" is text in a column of numbers; correct it, or hold the column as categories`},
		"text, second file": {files: map[string]string{"a.csv": "x\n1\n", "b.csv": "x\n" + strings.Repeat("1\n", kindRows) + "?\n"}, paths: "a.csv b.csv",
			want: `data: "b.csv", line 4098 (row 4097), column "x": cell "?" is text in a column of numbers; correct it, or hold the column as categories`},

		"empty cell":           {files: map[string]string{"a.csv": "x,y\n1,2\n ,3\n"}, want: `data: "a.csv", line 3 (row 2), column "x": cell "" is empty; fill it in, or leave such rows out`},
		"empty line":           {files: map[string]string{"a.csv": "x\n1\n\n3\n"}, want: `data: "a.csv", line 3 (row 2), column "x": cell "" is empty; fill it in, or leave such rows out`},
		"NaN":                  {files: map[string]string{"a.csv": "x,y\n1,2\nNaN,3\n"}, want: `data: "a.csv", line 3 (row 2), column "x": cell "NaN" marks a missing value; fill it in, or leave such rows out`},
		"NA in text":           {files: map[string]string{"a.csv": "x\nDE\nNA\n"}, want: `data: "a.csv", line 3 (row 2), column "x": cell "NA" marks a missing value; fill it in, or leave such rows out`},
		"null in a factor":     {files: map[string]string{"a.csv": "x\n1\nnull\n"}, o: CSVOptions{Factors: []string{"x"}}, want: `data: "a.csv", line 3 (row 2), column "x": cell "null" marks a missing value; fill it in, or leave such rows out`},
		"Inf":                  {files: map[string]string{"a.csv": "x,y\n1,2\n-Inf,3\n"}, o: CSVOptions{NA: NADrop}, want: `data: "a.csv", line 3 (row 2), column "x": cell "-Inf" is not a finite number; correct it or remove the row`},
		"overflow":             {files: map[string]string{"a.csv": "x,y\n1e999,2\n"}, want: `data: "a.csv", line 2 (row 1), column "x": cell "1e999" is not a finite number; correct it or remove the row`},
		"Inf in a factor":      {files: map[string]string{"a.csv": "x\n1\nInf\n"}, o: CSVOptions{Factors: []string{"x"}}, want: `data: "a.csv", line 3 (row 2), column "x": cell "Inf" is not a finite number; correct it or remove the row`},
		"error in a drop row":  {files: map[string]string{"a.csv": "x,y\n1,2\nNA,Inf\n"}, column: "y", o: CSVOptions{NA: NADrop}, want: `data: "a.csv", line 3 (row 2), column "y": cell "Inf" is not a finite number; correct it or remove the row`},
		"latin-1 level":        {files: map[string]string{"a.csv": "x\nZ\xfcrich\n"}, want: `data: "a.csv", line 2 (row 1), column "x": cell "Z\xfcrich" is not UTF-8; convert the file first`},
		"line inside a record": {files: map[string]string{"a.csv": "y,x\n\"a\nb\",Inf\nc,1\n"}, want: `data: "a.csv", line 3 (row 1), column "x": cell "Inf" is not a finite number; correct it or remove the row`},
		"long cell":            {files: map[string]string{"a.csv": numbersThen(strings.Repeat("a", 100) + ",1\n")}, want: `data: "a.csv", line 4098 (row 4097), column "x": cell "` + strings.Repeat("a", 80) + `..." is text in a column of numbers; correct it, or hold the column as categories`},

		"unknown column":     {files: map[string]string{"a.csv": "x,income,age\n1,2,3\n"}, column: "Incom", want: `data: no column "Incom" in "a.csv"; the nearest name is "income"`},
		"unknown factor":     {files: map[string]string{"a.csv": "x,income,age\n1,2,3\n"}, o: CSVOptions{Factors: []string{"agee"}}, want: `data: no column "agee" in "a.csv"; the nearest name is "age"`},
		"probably delimiter": {files: map[string]string{"a.csv": "x;y\n1;2\n"}, want: `data: "a.csv": the header is the single name "x;y", and the rows look alike: the cells seem to be separated by ";", not by commas`},
		"decimal commas":     {files: map[string]string{"a.csv": "x;y;z\n1,5;2;3,25\n"}, want: `data: "a.csv": the header is the single name "x;y;z", and the rows look alike: the cells seem to be separated by ";", not by commas`},
		"tabs":               {files: map[string]string{"a.csv": "x\ty\n1\t2\n"}, want: `data: "a.csv": the header is the single name "x\ty", and the rows look alike: the cells seem to be separated by "\t", not by commas`},
		"other header, mark": {files: map[string]string{"a.csv": "km;h\n1\n"}, want: `data: no column "x" in "a.csv"; the nearest name is "km;h"; its header is the single name "km;h": is the delimiter right?`},
		"comma by name":      {files: map[string]string{"a.csv": "x;y\n1;2\n"}, o: CSVOptions{Delimiter: ','}, want: `data: no column "x" in "a.csv"; the nearest name is "x;y"; its header is the single name "x;y": is the delimiter right?`},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, c.files)
			l := defaultLimits()
			if c.limits != nil {
				l = *c.limits
			}
			paths := strings.Fields(c.paths)
			if c.paths == "" {
				paths = []string{"a.csv"}
			}
			got := ""
			source, err := openCSV(paths, &c.o, l)
			if err != nil {
				got = err.Error()
			} else {
				defer source.Close()
				columns := []string{"x"}
				if c.column != "" {
					columns = append(columns, c.column)
				}
				got = flatten(source.Batches(context.Background(), columns)).Err
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestCellErrorFields(t *testing.T) {
	write(t, map[string]string{"a.csv": "x,y\n1,2\n\n3,\n"})
	source := mustOpen(t, nil, "a.csv")
	var got *CellError
	for _, err := range source.Batches(t.Context(), []string{"y"}) {
		if !errors.As(err, &got) {
			t.Fatalf("%T", err)
		}
	}
	want := CellError{File: "a.csv", Line: 4, Row: 2, Column: "y", Reason: "is empty; fill it in, or leave such rows out", Err: ErrMissingValue}
	if got == nil || *got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestCSVUnrequestedCells: what nobody asks for may hold anything.
func TestCSVUnrequestedCells(t *testing.T) {
	write(t, map[string]string{"a.csv": "x,y\n1,Inf\n2,\n3,9\n"})
	if got := flatten(mustOpen(t, nil, "a.csv").Batches(t.Context(), []string{"x"})).String(); got != "[0 1 2]\nx [1 2 3]\n" {
		t.Error(got)
	}
}

// TestCSVCutGzip: no prefix of a compressed file passes for the whole.
func TestCSVCutGzip(t *testing.T) {
	full := zip(t, "x\n1\n2\n") + zip(t, "3\n4\n")
	files := map[string]string{"full": full}
	write(t, files)
	if got := all(mustOpen(t, nil, "full")).String(); got != "[0 1 2 3]\nx [1 2 3 4]\n" {
		t.Error(got)
	}
	member := len(zip(t, "x\n1\n2\n"))
	for n := range len(full) {
		if n == member {
			continue // a file of one member
		}
		if err := os.WriteFile("cut", []byte(full[:n]), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := OpenCSV([]string{"cut"}, nil)
		if err != nil {
			continue
		}
		if got := all(c); got.Err == "" {
			t.Errorf("%d of %d bytes: no error, %v", n, len(full), got)
		}
	}
}

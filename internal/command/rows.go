package command

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
)

// dataFlags say how to read the rows.
type dataFlags struct {
	paths     []string
	delimiter string
	decimal   string
	encoding  string
	marks     []string // cells that are missing
	factors   []string
	texts     []string
	na        string
	tensors   bool     // there are arrays that may be all the data
	batch     rowCount // 0: not given

	store data.Store // opens the files; nil: the disk
}

func (d *dataFlags) add(f *pflag.FlagSet) {
	d.addFiles(f)
	f.Var(&d.batch, "batch-size", "`ROWS` read at a time (default 4096; results do not depend on it)")
}

// addFiles adds the flags on how files are read.
func (d *dataFlags) addFiles(f *pflag.FlagSet) {
	f.StringArrayVar(&d.paths, "data", nil, "data `FILE`: CSV (also gzipped), Parquet, Arrow or NumPy, by content; a quoted glob, or - for CSV or Arrow from standard input; repeatable, and further files may follow the flags")
	f.StringVar(&d.delimiter, "delimiter", "", "`CHAR` between the cells of CSV files; tab for tabs (default a comma)")
	f.StringVar(&d.decimal, "decimal", "", "`CHAR` before the decimals of numbers in CSV files: a comma, or a point (default)")
	f.StringVar(&d.encoding, "encoding", "", "`ENCODING` of CSV files: "+data.UTF8+" (default) or "+data.Windows1252)
	f.StringArrayVar(&d.marks, "na-values", nil, "`CELL` of CSV files that is missing, to the letter, besides NA, NaN, null and empty ones: ?, -999, #N/A (repeatable)")
	f.StringVar(&d.na, "na", "error", "what to do with missing cells: error, drop to leave those rows out, or keep to let the network fill in the numbers that it can")
}

func (d *dataFlags) addFactors(f *pflag.FlagSet) {
	f.StringSliceVar(&d.factors, "factor", nil, "numeric `COLUMNS` that are categories (comma separated, repeatable)")
	f.StringSliceVar(&d.texts, "text", nil, "`COLUMNS` that are read as text, to the letter, though their cells may be numbers: 01 is not 1 there (comma separated, repeatable)")
}

// options turns flags into options and reports wrong usage.
func (d *dataFlags) options(s streams) (*files.Options, error) {
	o := &files.Options{Factors: d.factors, Texts: d.texts, BatchRows: int(d.batch), Stdin: s.in, Workers: runtime.GOMAXPROCS(0)}
	if s.files != nil {
		d.store, o.Store = s.files, s.files
	}
	switch delimiter := []rune(d.delimiter); {
	case d.delimiter == "": // a comma, unless the files look otherwise
	case d.delimiter == "tab" || d.delimiter == `\t`:
		o.Delimiter = '\t'
	case len(delimiter) == 1 && strings.ContainsRune("\t !#$%&'()*,/:;<=>?@[\\]^`{|}~", delimiter[0]):
		o.Delimiter = delimiter[0]
	default:
		return nil, usagef("--delimiter %q: use a comma, semicolon, tab or another ASCII mark", d.delimiter)
	}
	switch d.decimal {
	case "", ".":
	case ",":
		o.Decimal = ','
		if d.delimiter == "," {
			return nil, usagef("--decimal , --delimiter ,: a comma cannot be both")
		}
		if d.delimiter == "" {
			o.Delimiter = ';'
		}
	default:
		return nil, usagef("--decimal %q: it is a comma or a point", d.decimal)
	}
	o.NAValues = d.marks
	switch o.Encoding = strings.ToLower(d.encoding); o.Encoding {
	case "", data.UTF8, data.Windows1252:
	default:
		return nil, usagef("--encoding %q: it is %s or %s", d.encoding, data.UTF8, data.Windows1252)
	}
	switch d.na {
	case "error":
	case "drop":
		o.NA = data.NADrop
	case "keep":
		o.NA = data.NAKeep
	default:
		return nil, usagef("--na %q: it is error, drop or keep", d.na)
	}
	if len(d.paths) == 0 && !d.tensors {
		return nil, usagef("--data is missing: name a file, or - for standard input")
	}
	return o, nil
}

// rowCount is the value of a flag that takes a number of rows, at least 1.
type rowCount int

func (n *rowCount) String() string { return strconv.Itoa(int(*n)) }
func (n *rowCount) Type() string   { return "number of rows, at least 1" }
func (n *rowCount) Set(text string) error {
	v, err := strconv.Atoi(text)
	if err == nil && v < 1 {
		err = strconv.ErrRange
	}
	if err == nil {
		*n = rowCount(v)
	}
	return err
}

// drops reports whether rows with missing cells are left out.
func (d *dataFlags) drops() bool { return d.na == "drop" }

// files expands what --data and the arguments after the flags name.
func (d *dataFlags) files(further []string) ([]string, error) {
	if paths := slices.Concat(d.paths, further); len(paths) > 0 || !d.tensors {
		if d.store != nil {
			return data.ExpandIn(context.Background(), d.store, paths)
		}
		return data.Expand(paths)
	}
	return nil, nil
}

package command

import (
	"context"
	"encoding/csv"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/wiring"
)

// dataFlags say how to read the rows.
type dataFlags struct {
	paths     []string
	delimiter string
	decimal   string
	encoding  string
	sheet     string
	marks     []string // cells that are missing
	factors   []string
	texts     []string
	levels    []string // COLUMN=levels in their order
	na        string
	unseen    string
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
	f.StringArrayVar(&d.paths, "data", nil, "data `FILE`: CSV (also compressed), Parquet, Arrow, NumPy, JSON lines or Excel, by content; a quoted glob, or - for CSV or Arrow from standard input; repeatable, and further files may follow the flags")
	f.StringVar(&d.delimiter, "delimiter", "", "`CHAR` between the cells of CSV files; tab for tabs (default a comma)")
	f.StringVar(&d.decimal, "decimal", "", "`CHAR` before the decimals of numbers in CSV files: a comma, or a point (default)")
	f.StringVar(&d.encoding, "encoding", "", "`ENCODING` of CSV files: "+data.UTF8+" (default) or "+data.Windows1252)
	f.StringVar(&d.sheet, "sheet", "", "`NAME` of the sheet of Excel workbooks (default: the first)")
	f.StringArrayVar(&d.marks, "na-values", nil, "`CELL` of CSV files that is missing, to the letter, besides NA, NaN, null and empty ones: ?, -999, #N/A (repeatable)")
	f.StringVar(&d.na, "na", "error", "what to do with missing cells: error, drop to leave those rows out, or keep to let the network fill in the numbers that it can; of text they are a level, (missing)")
}

func (d *dataFlags) addFactors(f *pflag.FlagSet) {
	f.StringSliceVar(&d.factors, "factor", nil, "numeric `COLUMNS` that are categories (comma separated, repeatable)")
	f.StringSliceVar(&d.texts, "text", nil, "`COLUMNS` that are read as text, to the letter, though their cells may be numbers: 01 is not 1 there (comma separated, repeatable)")
	f.StringArrayVar(&d.levels, "levels", nil, "the levels of a column of text in their order, as `COLUMN=low,mid,high`: the first is the reference (those with commas in double quotes; repeatable)")
}

// unseenUsage is what --unseen does.
const unseenUsage = "what to do with rows that have a level which training did not: error, drop to leave them out, or zero: terms of the column add nothing there, and what the network makes of them is unstructured"

// addUnseen is for commands that read new rows.
func (d *dataFlags) addUnseen(f *pflag.FlagSet) {
	f.StringVar(&d.unseen, "unseen", "error", unseenUsage)
}

// unseenPolicy is the policy of that name.
func unseenPolicy(name string) (data.UnseenPolicy, error) {
	p, ok := data.ParseUnseen(name)
	if !ok {
		return p, usagef("--unseen %q: it is error, drop or zero", name)
	}
	return p, nil
}

// newRows are rows that a decomposition is applied to, as --unseen says.
type newRows struct {
	policy data.UnseenPolicy
	tally  data.UnseenLevels
}

// of are src, opened for r, and the applier to split them with.
func (n *newRows) of(r *decompose.Result, opened *wiring.Opened, src files.Source, a *decompose.Applier) (files.Source, *decompose.Applier, error) {
	switch n.policy {
	case data.UnseenDrop:
		src, err := opened.KnownRows(r, src, &n.tally)
		return src, a, err
	case data.UnseenZero:
		a = a.ZeroUnseen(&n.tally)
	}
	return src, a, nil
}

// warn says what became of rows.
func (n *newRows) warn(s streams) {
	if note := wiring.Unseen(&n.tally, n.policy, " (--unseen)"); note != "" {
		fmt.Fprintf(s.err, "warning: %s\n", note)
	}
}

// options turns flags into options and reports wrong usage.
func (d *dataFlags) options(s streams) (*files.Options, error) {
	o := &files.Options{Factors: d.factors, Texts: d.texts, BatchRows: int(d.batch), Stdin: s.in, Workers: runtime.GOMAXPROCS(0)}
	if s.files != nil {
		d.store, o.Store = s.files, s.files
	}
	var err error
	if o.Levels, err = levelOrders(d.levels); err != nil {
		return nil, err
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
	o.NAValues, o.Sheet = d.marks, d.sheet
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

// levelOrders reads --levels: COLUMN=low,mid,"a level, with a comma".
func levelOrders(flags []string) (map[string][]string, error) {
	orders := map[string][]string{}
	for _, flag := range flags {
		name, list, _ := strings.Cut(flag, "=")
		levels, err := csv.NewReader(strings.NewReader(list)).Read()
		if name == "" || err != nil {
			return nil, usagef("--levels %q: want COLUMN=level,level, and levels with commas in double quotes", flag)
		}
		if orders[name] != nil {
			return nil, usagef("--levels: column %q has two orders", name)
		}
		for i, level := range levels {
			if slices.Contains(levels[:i], level) {
				return nil, usagef("--levels %q: level %q is there twice", flag, level)
			}
		}
		orders[name] = levels
	}
	return orders, nil
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

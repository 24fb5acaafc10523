package formula

import (
	"testing"
)

// seeds are formulas that parse, with their canonical spelling.
var seeds = []struct{ text, want string }{
	{"~ 1", "~ 1"},
	{"~0", "~ 0"},
	{"~ -1", "~ 0"},
	{"~ - 0", "~ 1"},
	{"y~x", "y ~ x"},
	{" y ~ x1+x2 - 1 ", "y ~ x1 + x2 - 1"},
	{"~ x + 0", "~ x - 1"},
	{"~ 0 + x + 1", "~ x"},
	{"sigma=~ x", "sigma = ~ x"},
	{"mu = y ~ s(x)", "mu = y ~ s(x)"},
	{"~ + x", "~ x"},
	{"~ s(x2,k=20,bs='ps')", `~ s(x2, k = 20, bs = "ps")`},
	{"~ te(lon,lat,k=c(5,5), bs=c('cr',\"ps\"), fx=TRUE)", `~ te(lon, lat, k = c(5, 5), bs = c("cr", "ps"), fx = TRUE)`},
	{"~ s(hour, bs=\"cc\", period=c(0,24)) + s(id, bs=\"re\")", `~ s(hour, bs = "cc", period = c(0, 24)) + s(id, bs = "re")`},
	{"~ s(x, by=group, sp=-1) + origin:dest + factor(dow)", "~ s(x, by = group, sp = -1) + origin:dest + factor(dow)"},
	{"~ `wind speed`:`a\\`b\\\\` + `TRUE`", "~ `wind speed`:`a\\`b\\\\` + `TRUE`"},
	{"~ größe + x.1 + .y + _z", "~ größe + x.1 + .y + _z"},
	{"~ c + s + factor(te)", "~ c + s + factor(te)"},
	{"~ s(x, sp = +.5e-3, id='a\"b')", `~ s(x, sp = 0.0005, id = "a\"b")`},
	{"~ s(x, sp=-0)", "~ s(x, sp = 0)"},
	{"~\n x +\n\tz", "~ x + z"},
	{"`a b` ~ `1x`", "`a b` ~ `1x`"},
}

func TestParseCanonical(t *testing.T) {
	for _, c := range seeds {
		f, err := Parse(c.text)
		if err != nil {
			t.Errorf("Parse(%q): %v", c.text, err)
			continue
		}
		if got := f.String(); got != c.want {
			t.Errorf("Parse(%q).String() = %q, want %q", c.text, got, c.want)
		}
	}
}

package settings

import (
	"fmt"
	"strings"
)

// A Problem is a setting that cannot be used. Load joins as many as it finds.
type Problem struct {
	Name string // the variable
	What string // what is wrong, with the value unless that is a secret
	Hint string // what to do
}

func (p *Problem) Error() string { return p.What + " (" + p.Hint + ")" }

// A Warning is a setting that probably does not do what was meant.
type Warning struct {
	Name string
	Text string
}

func (w Warning) String() string { return w.Text }

// problem describes the value of a row that is not among what is allowed.
func (r Row) problem(value string) *Problem {
	what := fmt.Sprintf("%s=%q is not %s", r.Name, value, r.allowed())
	if r.Secret || strings.ContainsAny(value, "@?") { // a URL may hold a password, which is one reason to refuse it
		what = fmt.Sprintf("%s is not %s", r.Name, r.allowed())
	}
	hint := "unset it for the default"
	if d := r.Default; d != "" {
		hint += ", " + d
	}
	return &Problem{Name: r.Name, What: what, Hint: hint}
}

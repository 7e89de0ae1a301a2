package settings

import (
	"errors"
	"net/url"
	"reflect"
	"strings"

	"github.com/caarlos0/env/v11"
)

// Load reads the settings from environ, which has the form of [os.Environ].
// The error joins every [*Problem] found, so that a person can correct them
// all at once. Warnings are worth showing and no reason to stop; they come
// beside an error too.
func Load(environ []string) (Settings, []Warning, error) {
	return load(environ, osHost{})
}

// LoadChannel is [Load] for a runtime that reads the inboxes of workspaces: but for them
// it stands alone.
func LoadChannel(environ []string) (Settings, []Warning, error) {
	return loadAs(environ, osHost{}, true)
}

func load(environ []string, h host) (Settings, []Warning, error) { return loadAs(environ, h, false) }

func loadAs(environ []string, h host, channel bool) (Settings, []Warning, error) {
	vars := toMap(environ)
	rows := Rows()
	s, problems := parse(vars, rows)
	more, warnings := unknownNames(vars, rows)
	problems = append(problems, more...)
	if len(problems) == 0 {
		r := resolver{s: &s, vars: vars, host: h, channel: channel}
		problems, warnings = r.run(), append(warnings, r.warnings...)
	}
	return s, warnings, join(problems)
}

// parse fills the fields from vars and checks each against its row.
func parse(vars map[string]string, rows []Row) (Settings, []*Problem) {
	var s Settings
	err := env.ParseWithOptions(&s, env.Options{
		Environment: vars,
		FuncMap: map[reflect.Type]env.ParserFunc{
			reflect.TypeFor[Secret](): func(v string) (any, error) { return NewSecret(v), nil },
		},
	})
	failed := failedFields(err)
	var problems []*Problem
	v := reflect.ValueOf(s)
	for _, row := range rows {
		field := v.Type().Field(row.field).Name
		if failed[field] || !row.holds(v.Field(row.field)) {
			problems = append(problems, row.problem(vars[row.Name]))
		}
	}
	if err != nil && len(failed) == 0 {
		problems = append(problems, &Problem{What: err.Error(), Hint: "this is a fault of the runtime: report it"})
	}
	return s, problems
}

// failedFields returns the names of the fields that could not be parsed. The
// library's messages are not used: they quote the value, secret or not.
func failedFields(err error) map[string]bool {
	failed := make(map[string]bool)
	all, ok := errors.AsType[env.AggregateError](err)
	if !ok {
		return failed
	}
	for _, e := range all.Errors {
		if parse, ok := errors.AsType[env.ParseError](e); ok {
			failed[parse.Name] = true
		}
	}
	return failed
}

// toMap splits the environment. White space around values is dropped: it comes
// from files and templates, and no setting has a use for it. The last of two
// equal names wins, as in a shell.
func toMap(environ []string) map[string]string {
	vars := make(map[string]string, len(environ))
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok && name != "" {
			vars[name] = strings.TrimSpace(value)
		}
	}
	return vars
}

func join(problems []*Problem) error {
	errs := make([]error, len(problems))
	for i, p := range problems {
		errs[i] = p
	}
	return errors.Join(errs...)
}

// Problems takes the error of [Load] apart.
func Problems(err error) []*Problem {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	var out []*Problem
	for _, e := range joined.Unwrap() {
		if p, ok := errors.AsType[*Problem](e); ok {
			out = append(out, p)
		}
	}
	return out
}

func isWebURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") &&
		u.Hostname() != "" && u.RawQuery == "" && u.Fragment == "" && u.User == nil
}

package settings

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
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

// parse fills the fields from vars and checks each against its row. A value that cannot be
// parsed leaves the field empty.
func parse(vars map[string]string, rows []Row) (Settings, []*Problem) {
	var s Settings
	var problems []*Problem
	fields := reflect.ValueOf(&s).Elem()
	for _, row := range rows {
		field := fields.Field(row.field)
		if err := set(field, cmp.Or(vars[row.Name], row.fixed)); err != nil || !row.holds(field) {
			problems = append(problems, row.problem(vars[row.Name]))
		}
	}
	return s, problems
}

// set gives a field its value. One that is empty is none.
func set(field reflect.Value, text string) (err error) {
	if text == "" {
		return nil
	}
	switch to := field.Addr().Interface().(type) {
	case *string:
		*to = text
	case *Secret:
		*to = NewSecret(text)
	case *bool:
		*to, err = strconv.ParseBool(text)
	case *int:
		*to, err = strconv.Atoi(text)
	case *time.Duration:
		*to, err = time.ParseDuration(text)
	default:
		err = fmt.Errorf("no setting is of type %T", to)
	}
	return err
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

package settings

import (
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Row describes one setting, read off the tags of [Settings].
type Row struct {
	Name    string
	Group   string
	Default string // in words; empty if there is none
	OneOf   []string
	Help    string
	Secret  bool

	field    int    // index in Settings
	fixed    string // the default, where it is a fixed value
	kind     string
	min, max string
}

// Rows returns the table in the order of the fields.
func Rows() []Row {
	t := reflect.TypeFor[Settings]()
	rows := make([]Row, 0, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("env")
		if name == "" {
			continue
		}
		row := Row{
			Name:    name,
			Group:   f.Tag.Get("group"),
			Default: f.Tag.Get("envDefault") + f.Tag.Get("default"),
			Help:    f.Tag.Get("help"),
			Secret:  f.Type == reflect.TypeFor[Secret](),
			field:   i,
			fixed:   f.Tag.Get("envDefault"),
			kind:    f.Tag.Get("kind"),
			min:     f.Tag.Get("min"),
			max:     f.Tag.Get("max"),
		}
		if list := f.Tag.Get("oneof"); list != "" {
			row.OneOf = strings.Split(list, ",")
		}
		rows = append(rows, row)
	}
	return rows
}

// allowed says in words which values the row takes.
func (r Row) allowed() string {
	switch t := reflect.TypeFor[Settings]().Field(r.field).Type; {
	case len(r.OneOf) == 1:
		return r.OneOf[0]
	case len(r.OneOf) > 1:
		return "one of " + strings.Join(r.OneOf, ", ")
	case r.kind == "url":
		return "a URL such as https://example.com/path, without a user, a password or a query"
	case r.kind == "networks":
		return "a list of networks such as 10.0.0.0/8,fd00::/8"
	case r.kind == "labels":
		return "a list of labels such as gpu=yes,arch=arm64"
	case r.kind == "switch":
		return "a yes or no: 1, true, yes or on, or 0, false, no or off"
	case t == reflect.TypeFor[time.Duration]():
		return "a duration between " + r.min + " and " + r.max + ", such as 90s or 10m"
	case t.Kind() == reflect.Int:
		return "a number between " + r.min + " and " + r.max
	case t.Kind() == reflect.Bool:
		return "a yes or no: 1 or 0, true or false"
	default:
		return "usable"
	}
}

// holds reports whether a parsed value is among what the row allows. An empty
// value is: it means the default.
func (r Row) holds(v reflect.Value) bool {
	switch x := v.Interface().(type) {
	case time.Duration:
		low, errLow := time.ParseDuration(r.min)
		high, errHigh := time.ParseDuration(r.max)
		return errLow == nil && errHigh == nil && low <= x && x <= high
	case int:
		low, errLow := strconv.Atoi(r.min)
		high, errHigh := strconv.Atoi(r.max)
		return errLow == nil && errHigh == nil && low <= x && x <= high
	case string:
		return x == "" || r.holdsText(x)
	default:
		return true
	}
}

func (r Row) holdsText(s string) bool {
	switch r.kind {
	case "url":
		return isWebURL(s)
	case "networks":
		_, ok := networks(s)
		return ok
	case "labels":
		_, ok := labels(s)
		return ok
	case "switch":
		_, ok := isOn(s)
		return ok
	}
	return len(r.OneOf) == 0 || slices.Contains(r.OneOf, s)
}

// isOn reads a switch, in capitals or not.
func isOn(s string) (on, ok bool) {
	switch strings.ToLower(s) {
	case "1", "true", "yes", "on":
		return true, true
	case "", "0", "false", "no", "off":
		return false, true
	}
	return false, false
}

func isWebURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") &&
		u.Hostname() != "" && u.RawQuery == "" && u.Fragment == "" && u.User == nil
}

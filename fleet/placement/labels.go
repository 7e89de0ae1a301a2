package placement

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Labels say what a machine has, or what a turn needs of it: the values are compared as they are.
type Labels map[string]string

const (
	mostLabels = 16
	mostLabel  = 128 // bytes of a key, and of a value
)

// ParseLabels reads key=value, separated by commas or blanks, as in RUNTIME_MACHINES_LABELS.
func ParseLabels(text string) (Labels, error) {
	all := Labels{}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' }) {
		key, value, ok := strings.Cut(word, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("the label %q is not key=value", word)
		}
		if before, there := all[key]; there && before != value {
			return nil, fmt.Errorf("the label %s has two values, %s and %s", key, before, value)
		}
		all[key] = value
	}
	return all, all.check()
}

// Join returns what a turn needs that the operator's and the sender's labels are for. A sender adds to what the operator has
// said, and cannot change it.
func Join(operator, sender Labels) (Labels, error) {
	if err := sender.check(); err != nil {
		return nil, err
	}
	all := Labels{}
	maps.Copy(all, operator)
	for _, key := range slices.Sorted(maps.Keys(sender)) {
		if has, there := operator[key]; there && has != sender[key] {
			return nil, fmt.Errorf("a machine with %s=%s is asked for, and only those with %s=%s are used here", key, sender[key], key, has)
		}
		all[key] = sender[key]
	}
	return all, nil
}

func (l Labels) check() error {
	if len(l) > mostLabels {
		return fmt.Errorf("%d labels are more than %d", len(l), mostLabels)
	}
	for key, value := range l {
		switch {
		case key == "":
			return errors.New("a label has no name")
		case len(key) > mostLabel || len(value) > mostLabel:
			return fmt.Errorf("the label %.20q has more than %d bytes", key, mostLabel)
		case strings.ContainsFunc(key+value, func(r rune) bool { return r <= ' ' || r == ',' || r == 0x7f }) || strings.Contains(key, "="):
			return fmt.Errorf("the label %q has a character that labels cannot have", key+"="+value)
		}
	}
	return nil
}

// String is the labels in the order of their names.
func (l Labels) String() string {
	words := make([]string, 0, len(l))
	for _, key := range slices.Sorted(maps.Keys(l)) {
		words = append(words, key+"="+l[key])
	}
	return strings.Join(words, ",")
}

// within says whether what is needed is there.
func (l Labels) within(has Labels) bool {
	for key, value := range l {
		if got, there := has[key]; !there || got != value {
			return false
		}
	}
	return true
}

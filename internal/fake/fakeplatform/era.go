package fakeplatform

import (
	"fmt"
	"strings"
)

// An Era is the age of the platform.
type Era int

// The ages that are in use, by the month of 2026 of which their servers are. Those of
// April and June have been run with our runtime as the workspace; what is known of
// August's is read from its sources, and where that is silent it does as June's.
const (
	APR Era = iota
	JUN
	AUG
)

var eraNames = [...]string{"APR", "JUN", "AUG"}

func (e Era) String() string { return eraNames[e] }

// Eras are all of them, oldest first.
func Eras() []Era { return []Era{APR, JUN, AUG} }

// ParseEra finds an era by its name.
func ParseEra(name string) (Era, error) {
	for _, e := range Eras() {
		if strings.EqualFold(name, e.String()) {
			return e, nil
		}
	}
	return 0, fmt.Errorf("no era %q: apr, jun or aug", name)
}

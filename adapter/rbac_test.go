package adapter

import (
	"slices"
	"strings"
	"testing"
)

func TestRoles(t *testing.T) {
	all := []string{actDelegate, actApprove, actRecall, actRemember}
	for text, want := range map[string]string{ // yes or no for each of them, and whether there is a warning
		"":                                        "yyyy",
		"rbac: {roles: [admin]}":                  "yyyy",
		"rbac: {roles: read-only}":                "nnyn",
		"rbac: {roles: [memory-readonly]}":        "nnyn",
		"rbac: {roles: [no-delegation]}":          "nyyy",
		"rbac: {roles: [no-approval]}":            "ynyy",
		"rbac: {roles: [read-only, no-approval]}": "ynyy",
		"rbac: {roles: [nobody-knows-it]}":        "nnnn!",
		"rbac: {roles: []}":                       "nnnn!",
		"rbac: {roles: null}":                     "nnnn!",
		"rbac: {roles: ''}":                       "nnnn!",
		"rbac: {roles: [{}]}":                     "nnnn!",
		"rbac: {roles: {read-only: true}}":        "nnnn!",
		"rbac: read-only":                         "nnnn!",
		"rbac: [read-only]":                       "nnnn!",
		"rbac: false":                             "nnnn!",
		"rbac:":                                   "yyyy!",
		"rbac: {}":                                "yyyy",
		"rbac: {allowed_actions: {operator: [delegate]}}":                     "ynnn",
		"rbac: &r {roles: [nobody]}\nrole: *r":                                "nnnn!",
		"x: &r {roles: []}\nrbac: {<<: *r}":                                   "nnnn!",
		"x: &r read-only\nrbac: {roles: *r}":                                  "nnyn",
		"rbac: {roles: [x], allowed_actions: {x: [delegate]}}":                "ynnn",
		"rbac: {roles: [operator], allowed_actions: {operator: [delegate]}}":  "ynnn",
		"rbac: {roles: [operator], allowed_actions: {operator: memory.read}}": "nnnn",
		"rbac: {roles: [admin], allowed_actions: {admin: [delegate]}}":        "yyyy",
	} {
		c, warnings, err := ParseConfig("c", []byte(text))
		got := ""
		for _, action := range all {
			if c.RBAC.Allows(action) {
				got += "y"
			} else {
				got += "n"
			}
		}
		if slices.ContainsFunc(warnings, func(w Warning) bool { return strings.HasPrefix(w.Text, "rbac") }) {
			got += "!"
		}
		if err != nil || got != want {
			t.Errorf("%q: %s, %v, want %s", text, got, err, want)
		}
	}
}

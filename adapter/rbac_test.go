package adapter

import "testing"

func TestRoles(t *testing.T) {
	all := []string{actDelegate, actApprove, actRecall, actRemember}
	for text, want := range map[string]string{
		"":                                                     "yyyy",
		"rbac: {roles: [admin]}":                               "yyyy",
		"rbac: {roles: read-only}":                             "nnyn",
		"rbac: {roles: [memory-readonly]}":                     "nnyn",
		"rbac: {roles: [no-delegation]}":                       "nyyy",
		"rbac: {roles: [no-approval]}":                         "ynyy",
		"rbac: {roles: [read-only, no-approval]}":              "ynyy",
		"rbac: {roles: [nobody-knows-it]}":                     "nnnn",
		"rbac: {roles: [x], allowed_actions: {x: [delegate]}}": "ynnn",
		"rbac: {roles: [operator], allowed_actions: {operator: [delegate]}}":  "ynnn",
		"rbac: {roles: [operator], allowed_actions: {operator: memory.read}}": "nnnn",
		"rbac: {roles: [admin], allowed_actions: {admin: [delegate]}}":        "yyyy",
	} {
		c, _, err := ParseConfig("c", []byte(text))
		got := ""
		for _, action := range all {
			if c.RBAC.Allows(action) {
				got += "y"
			} else {
				got += "n"
			}
		}
		if err != nil || got != want {
			t.Errorf("%q: %s, %v, want %s", text, got, err, want)
		}
	}
}

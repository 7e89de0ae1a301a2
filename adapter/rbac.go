package adapter

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The actions that roles grant. They are the platform's, as are the roles.
const (
	actDelegate = "delegate"
	actApprove  = "approve"
	actRecall   = "memory.read"
	actRemember = "memory.write"
)

// roles is what stands under rbac. Who has written something of roles wanted to take rights
// away: what names none, or cannot be read, grants nothing, and not what the default does.
func roles(s section, standard RBACConfig) RBACConfig {
	if node := s.values["rbac"]; node != nil && node.Kind != yaml.MappingNode {
		if s.quiet("rbac") == nil {
			s.warn("rbac", "nothing stands in it; the role is "+strings.Join(standard.Roles, ", "))
			return standard
		}
		s.warn("rbac", "keys and values are wanted here, such as roles: [read-only]; no workspace tool that needs a role works")
		return RBACConfig{}
	}
	r := s.section("rbac")
	c := RBACConfig{Roles: standard.Roles, AllowedActions: r.any("allowed_actions")}
	if r.values["roles"] == nil {
		return c
	}
	c.Roles = r.list("roles")
	known := func(role string) bool {
		_, described := c.AllowedActions[role]
		return described || granted(role) != nil
	}
	if !slices.ContainsFunc(c.Roles, known) {
		all := append(slices.Clone(standardRoles), slices.Sorted(maps.Keys(c.AllowedActions))...)
		r.warn("roles", "none of "+strings.Join(all, ", ")+" is named; no workspace tool that needs a role works")
	}
	return c
}

// standardRoles are the roles that everybody has.
var standardRoles = []string{"admin", "operator", "no-delegation", "no-approval", "read-only", "memory-readonly"} //nolint:gochecknoglobals // a constant

// granted are the actions of the roles that everybody has; nil for others.
func granted(role string) []string {
	switch role {
	case "admin", "operator":
		return []string{actDelegate, actApprove, actRecall, actRemember}
	case "no-delegation":
		return []string{actApprove, actRecall, actRemember}
	case "no-approval":
		return []string{actDelegate, actRecall, actRemember}
	case "read-only", "memory-readonly":
		return []string{actRecall}
	}
	return nil
}

// Allows reports whether one of the workspace's roles grants an action. What
// allowed_actions says of a role is all that it grants, but for admin, which grants
// everything.
func (r RBACConfig) Allows(action string) bool {
	return slices.ContainsFunc(r.Roles, func(role string) bool {
		own, described := r.AllowedActions[role]
		if !described || role == "admin" {
			return slices.Contains(granted(role), action)
		}
		actions, _ := own.([]any)
		return slices.Contains(actions, any(action))
	})
}

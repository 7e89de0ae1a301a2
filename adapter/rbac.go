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
		return described || standardRoles[role] != nil
	}
	if !slices.ContainsFunc(c.Roles, known) {
		all := append(slices.Sorted(maps.Keys(standardRoles)), slices.Sorted(maps.Keys(c.AllowedActions))...)
		r.warn("roles", "none of "+strings.Join(all, ", ")+" is named; no workspace tool that needs a role works")
	}
	return c
}

// standardRoles are the roles of each workspace, with their actions.
//
//nolint:gochecknoglobals // a constant
var standardRoles = map[string][]string{
	"admin":           {actDelegate, actApprove, actRecall, actRemember},
	"operator":        {actDelegate, actApprove, actRecall, actRemember},
	"no-delegation":   {actApprove, actRecall, actRemember},
	"no-approval":     {actDelegate, actRecall, actRemember},
	"read-only":       {actRecall},
	"memory-readonly": {actRecall},
}

// Allows reports whether one of the workspace's roles grants an action. What
// allowed_actions says of a role is all that it grants, but for admin, which grants
// everything.
func (r RBACConfig) Allows(action string) bool {
	return slices.ContainsFunc(r.Roles, func(role string) bool {
		own, described := r.AllowedActions[role]
		if !described || role == "admin" {
			return slices.Contains(standardRoles[role], action)
		}
		actions, _ := own.([]any)
		return slices.Contains(actions, any(action))
	})
}

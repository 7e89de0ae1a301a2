package adapter

import "slices"

// The actions that roles grant. They are the platform's, as are the roles.
const (
	actDelegate = "delegate"
	actApprove  = "approve"
	actRecall   = "memory.read"
	actRemember = "memory.write"
)

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

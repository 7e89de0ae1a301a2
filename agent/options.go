package agent

// Options are what a message asks for in place of what is configured, for its own turn
// and no other. Zero fields ask for nothing.
type Options struct {
	Cwd            string // where commands start: absolute, without symlinks, under the working directory
	Model          string
	Sandbox        Sandbox
	ApprovalPolicy ApprovalPolicy
	Labels         string // that the machine must have on which commands run, as "key=value,key=value", in order
}

// FitInto reports whether a message that asks for o can be part of the turn of one that asks
// for others: it asks for nothing, or both ask for the same.
func (o Options) FitInto(others Options) bool { return o == Options{} || o == others }

// A Sandbox says what commands of a turn may do.
type Sandbox string

// The sandboxes, from the narrowest on.
const (
	ReadOnly       Sandbox = "read-only"
	WorkspaceWrite Sandbox = "workspace-write"
	FullAccess     Sandbox = "danger-full-access"
)

// An ApprovalPolicy says when the agent asks before it acts.
type ApprovalPolicy string

// The approval policies.
const (
	Untrusted ApprovalPolicy = "untrusted"  // before each command that is not known to be harmless
	OnRequest ApprovalPolicy = "on-request" // where the model, or the sandbox, wants it
	Never     ApprovalPolicy = "never"
)

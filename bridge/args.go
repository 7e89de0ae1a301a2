package bridge

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// Args are those of the codex_bridge tool. Which of them an action needs, and what
// they mean, is in [Schema].
type Args struct {
	Action         string         `json:"action"`
	Prompt         string         `json:"prompt"`
	TaskID         string         `json:"task_id"`
	Instruction    string         `json:"instruction"`
	Decision       string         `json:"decision"`
	Answers        map[string]any `json:"answers"`
	Cwd            string         `json:"cwd"`
	Model          string         `json:"model"`
	Sandbox        string         `json:"sandbox"`
	ApprovalPolicy string         `json:"approval_policy"`
	CodexHome      string         `json:"codex_home"`
	NotifyTarget   string         `json:"notify_target"`
	Limit          *int           `json:"limit"`
	DryRun         bool           `json:"dry_run"`
}

// The defaults of the tool.
const (
	defaultSandbox  = "read-only"
	defaultPolicy   = "untrusted"
	defaultDecision = "decline"
	defaultLimit    = 10
)

// Do performs an action. What it returns is the answer of the tool, and an error if
// that is none: then the action was not performed, or it is not known whether it was.
func (c *Client) Do(ctx context.Context, a Args) (answer any, err error) {
	a = a.withDefaults()
	if err := a.check(); err != nil {
		return nil, err
	}
	switch a.Action {
	case "start":
		return c.start(ctx, a)
	case "status":
		return c.status(ctx, a.TaskID)
	case "list":
		return c.list(ctx, *a.Limit)
	case "notify_completed":
		return c.notifyCompleted(ctx, *a.Limit, a.DryRun)
	case "steer":
		return c.steer(ctx, a.TaskID, a.Instruction)
	case "interrupt", "cancel":
		return c.interrupt(ctx, a.TaskID)
	case "respond":
		return c.respond(ctx, a)
	}
	return nil, errors.New("action must be one of start, status, list, notify_completed, steer, interrupt, respond")
}

func (a Args) withDefaults() Args {
	a.Action = strings.ToLower(strings.TrimSpace(a.Action))
	for _, d := range []struct {
		field    *string
		fallback string
	}{{&a.Sandbox, defaultSandbox}, {&a.ApprovalPolicy, defaultPolicy}, {&a.Decision, defaultDecision}} {
		if *d.field == "" {
			*d.field = d.fallback
		}
	}
	if a.Limit == nil {
		limit := defaultLimit
		a.Limit = &limit
	}
	return a
}

// check says what an action lacks.
func (a Args) check() error {
	switch {
	case a.Action == "status" && a.TaskID == "":
		return errors.New("codex_bridge status requires task_id")
	case a.Action == "steer" && (a.TaskID == "" || strings.TrimSpace(a.Instruction) == ""):
		return errors.New("codex_bridge steer requires task_id and instruction")
	case (a.Action == "interrupt" || a.Action == "cancel") && a.TaskID == "":
		return errors.New("codex_bridge interrupt requires task_id")
	case a.Action == "respond" && (a.TaskID == "" || a.Instruction == ""):
		return errors.New("codex_bridge respond requires task_id and instruction=request_id")
	case a.Action == "respond" && !slices.Contains(decisions(), a.Decision):
		return errors.New("decision must be one of " + strings.Join(decisions(), ", "))
	case *a.Limit < 1 || *a.Limit > 1000:
		return errors.New("limit must be a number between 1 and 1000")
	}
	return nil
}

func decisions() []string { return []string{"accept", "acceptForSession", "decline", "cancel"} }

// checkStart refuses tasks that the bridge does not start. What the runtime's operator
// allows is for the runtime to say.
func (a Args) checkStart(home string) error {
	switch {
	case strings.TrimSpace(a.Prompt) == "":
		return errors.New("codex_bridge start requires a non-empty prompt")
	case a.Sandbox == "danger-full-access":
		return errors.New("codex_bridge refuses the sandbox danger-full-access; read-only and workspace-write can be had")
	case a.Sandbox != "read-only" && a.Sandbox != "workspace-write":
		return errors.New("sandbox must be one of read-only, workspace-write")
	case a.ApprovalPolicy == "never":
		return errors.New("codex_bridge refuses approval_policy=never; untrusted and on-request can be had")
	case a.ApprovalPolicy != "untrusted" && a.ApprovalPolicy != "on-request":
		return errors.New("approval_policy must be one of untrusted, on-request")
	case a.CodexHome != "" && !sameFolder(a.CodexHome, home):
		return errors.New("codex_home is the runtime's affair: its codex has one home, CODEX_HOME; leave it out")
	case a.TaskID != "" && !ours.MatchString(a.TaskID):
		return errors.New("task_id of a start must be of the form codex-<12 hex digits>; leave it out to have one made")
	}
	return nil
}

func sameFolder(a, b string) bool {
	leads := within.Real(b)
	return b != "" && leads != "" && within.Real(a) == leads
}

package toolset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

type message struct {
	Message     string       `json:"message" jsonschema:"what the user reads; Markdown"`
	Attachments []attachment `json:"attachments,omitempty" jsonschema:"files to show with it: paths of this workspace, or objects with a path or a uri"`
	target
}

// tellUser is send_message_to_user. A message that promises files goes out with all of
// them or not at all.
func (s *Set) tellUser(ctx context.Context, a message) (string, error) {
	if err := s.ours(a.Workspace); err != nil {
		return "", err
	}
	if strings.TrimSpace(a.Message) == "" {
		return "", errors.New("message is required")
	}
	files, err := s.attach(ctx, a.Attachments)
	if err != nil {
		return "", advised{"nothing was sent", err}
	}
	told, err := s.telling(ctx, "", a.Message)
	if err != nil {
		return "", err
	}
	err = s.cfg.Platform.Notify(ctx, a.Message, files...)
	told(err)
	if platform.StatusOf(err) == http.StatusForbidden {
		return "", advised{"this workspace may not talk to the user by itself (talk_to_user_disabled); give the answer as your reply, or delegate to a peer that may", err}
	}
	if err != nil {
		return "", err
	}
	if len(files) > 0 {
		return fmt.Sprintf("Message sent to user with %d attachment(s)", len(files)), nil
	}
	return "Message sent to user", nil
}

type announcement struct {
	Message string `json:"message" jsonschema:"the text"`
	target
}

// broadcast is broadcast_message.
func (s *Set) broadcast(ctx context.Context, a announcement) (string, error) {
	if err := s.ours(a.Workspace); err != nil {
		return "", err
	}
	if strings.TrimSpace(a.Message) == "" {
		return "", errors.New("message is required")
	}
	n, err := s.cfg.Platform.Broadcast(ctx, a.Message)
	switch {
	case platform.StatusOf(err) == http.StatusForbidden:
		return "", advised{"this workspace may not broadcast; use delegate_task for one peer, or have an admin allow it", err}
	case err != nil:
		return "", err
	case n < 0:
		return "Broadcast sent", nil
	}
	return fmt.Sprintf("Broadcast sent to %d workspace(s)", n), nil
}

type request struct {
	Kind     string `json:"kind" jsonschema:"task for something the user is to do, approval for something you want to do"`
	Title    string `json:"title" jsonschema:"what it is about, in a line"`
	Detail   string `json:"detail,omitempty" jsonschema:"what the user needs to know to decide"`
	Priority string `json:"priority,omitempty" jsonschema:"how urgent it is"`
}

// createRequest is create_request.
func (s *Set) createRequest(ctx context.Context, a request) (string, error) {
	kind := strings.ToLower(strings.TrimSpace(a.Kind))
	if kind != "task" && kind != "approval" || strings.TrimSpace(a.Title) == "" {
		return "", errors.New("kind must be task or approval, and title must not be empty")
	}
	if kind == "approval" {
		if err := s.granted(actApprove); err != nil {
			return "", err
		}
	}
	asked, err := s.cfg.Platform.CreateRequest(ctx, platform.Ask{Kind: kind, Title: a.Title, Detail: a.Detail, Priority: a.Priority})
	if errors.Is(err, platform.ErrUnsupported) {
		return "", advised{"put it to the user with send_message_to_user instead", err}
	}
	if err != nil {
		return "", err
	}
	answer := map[string]any{"request_id": asked.ID, "status": cmp.Or(asked.Status, "pending")}
	if asked.Silent {
		answer["note"] = "The user sees it on the canvas. This platform may not tell you the decision: if no message comes, ask the user for it, and do not act before."
	}
	return brief.Pretty(answer)
}

type approval struct {
	Action string `json:"action" jsonschema:"what you want to do"`
	Reason string `json:"reason,omitempty" jsonschema:"why"`
}

// createApproval is create_approval.
func (s *Set) createApproval(ctx context.Context, a approval) (string, error) {
	if strings.TrimSpace(a.Action) == "" {
		return "", errors.New("action is required")
	}
	return s.createRequest(ctx, request{Kind: "approval", Title: a.Action, Detail: a.Reason})
}

type plugin struct {
	Plugin string `json:"source" jsonschema:"where the plugin is: a registry name or a repository"`
	target
}

// installPlugin is install_plugin.
func (s *Set) installPlugin(ctx context.Context, a plugin) (string, error) {
	if err := s.ours(a.Workspace); err != nil {
		return "", err
	}
	if strings.TrimSpace(a.Plugin) == "" {
		return "", errors.New("source is required")
	}
	done, err := s.cfg.Platform.InstallPlugin(ctx, a.Plugin)
	switch platform.StatusOf(err) {
	case 0:
	case http.StatusForbidden:
		return "", advised{"the source is not on the platform's list of those that are allowed; ask an admin", err}
	case http.StatusUnprocessableEntity:
		return "", advised{"plugins cannot be installed from here into a workspace that runs outside the platform", err}
	}
	if err != nil {
		return "", err
	}
	return brief.Pretty(map[string]any{
		"status": cmp.Or(done.Status, "installed"), "plugin": done.Plugin, "source": cmp.Or(done.Source, a.Plugin),
		"note": "The platform restarts the workspace for it: this turn may be cut off.",
	})
}

// ReachesUser reports whether a tool puts words of a model's before the user.
func ReachesUser(tool string) bool {
	return slices.Contains([]string{"send_message_to_user", "create_request", "create_approval"}, tool)
}

package serve

import (
	"context"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/selfstart"
)

// sendToSelf makes tasks of the messages that the workspace sends to itself, in the
// conversation with its user. The marks keep them from being taken for his.
func sendToSelf(workspace string, door a2asrv.RequestHandler) selfstart.Sender {
	return func(ctx context.Context, m selfstart.Message) error {
		message := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(m.Text))
		message.ID, message.ContextID = m.ID, "canvas-"+workspace
		message.Metadata = map[string]any{"source_type": "self-" + strings.ReplaceAll(m.Kind, "_", "-")}
		_, err := door.SendMessage(ctx, &a2a.SendMessageRequest{
			Message: message, Config: &a2a.SendMessageConfig{ReturnImmediately: true},
		})
		return err
	}
}

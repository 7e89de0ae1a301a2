package server

import (
	"github.com/a2aproject/a2a-go/v2/a2a"
)

// What must hold for a request in every version and binding. Whether a blank
// message is worth an answer is for the handler to say.

func unchecked[T any](T) error { return nil }

func checkTaskID(id a2a.TaskID) error {
	if id == "" {
		return invalidParams("the id of the task is missing")
	}
	return nil
}

func checkHistory(n *int) error {
	if n != nil && *n < 0 {
		return invalidParams("historyLength is %d; it must not be negative", *n)
	}
	return nil
}

func checkGet(req *a2a.GetTaskRequest) error {
	if err := checkTaskID(req.ID); err != nil {
		return err
	}
	return checkHistory(req.HistoryLength)
}

func checkList(req *a2a.ListTasksRequest) error {
	switch req.Status {
	case a2a.TaskStateUnspecified, a2a.TaskStateSubmitted, a2a.TaskStateWorking, a2a.TaskStateInputRequired,
		a2a.TaskStateAuthRequired, a2a.TaskStateCompleted, a2a.TaskStateCanceled, a2a.TaskStateFailed, a2a.TaskStateRejected:
	default:
		return invalidParams("status is %s, which is no state of a task", quote(string(req.Status)))
	}
	if req.PageSize < 0 || req.PageSize > 100 {
		return invalidParams("pageSize is %d; it must be between 1 and 100", req.PageSize)
	}
	return checkHistory(req.HistoryLength)
}

func checkSend(req *a2a.SendMessageRequest) error {
	m := req.Message
	switch {
	case m == nil:
		return invalidParams("the message is missing")
	case m.ID == "":
		return invalidParams("message.messageId is missing")
	case m.Role != a2a.MessageRoleUser && m.Role != a2a.MessageRoleAgent:
		return invalidParams("message.role is %s; ROLE_USER or ROLE_AGENT can stand there", quote(m.Role.String()))
	case len(m.Parts) == 0:
		return invalidParams("message.parts is empty; send at least one part")
	}
	for i, p := range m.Parts {
		if p == nil || p.Content == nil {
			return invalidParams("message.parts[%d] is empty", i)
		}
	}
	if req.Config != nil {
		return checkHistory(req.Config.HistoryLength)
	}
	return nil
}

package bridge

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// WriteJSON writes an answer as programs read it.
func WriteJSON(w io.Writer, answer any) error {
	_, err := io.WriteString(w, asJSON(answer))
	return err
}

// WriteHuman writes an answer as people read it.
func WriteHuman(w io.Writer, answer any) error {
	var b strings.Builder
	switch a := answer.(type) {
	case StartAnswer:
		fmt.Fprintf(&b, "%s %s\n", a.Task.TaskID, a.Task.Status)
	case TaskAnswer:
		describe(&b, a.Task)
		steered(&b, a.Result)
	case ListAnswer:
		writeList(&b, a.Tasks)
	case NotifyAnswer:
		writeNotices(&b, a)
	}
	_, err := io.WriteString(w, brief.Plain(b.String()))
	return err
}

// column is what stands in front of the further lines of a described task's value.
const column = "            "

func describe(b *strings.Builder, t *Task) {
	fmt.Fprintf(b, "%s %s\n", t.TaskID, t.Status)
	line := func(name string, value *string) {
		if value != nil && *value != "" {
			fmt.Fprintf(b, "  %-9s %s\n", name, *value)
		}
	}
	if t.FromAgent != nil {
		from := "another agent, " + *t.FromAgent + ": the prompt is not the user's"
		line("from", &from)
	}
	line("prompt", &t.Prompt)
	line("thread", t.ThreadID)
	if t.CompletedAt == nil {
		line("progress", t.LastProgress)
	}
	line("reply", t.Final)
	line("error", t.Error)
	for _, q := range t.Pending {
		asks := strings.ReplaceAll(q.Words(), "\n", "\n"+column)
		line("asks", &asks)
		fmt.Fprintf(b, "%s%s\n", column, q.command(t.TaskID))
	}
	if t.NotifyTarget != nil {
		line("notify", t.NotifyTarget)
		line("notified", t.NotificationStatus)
	}
}

// steered says what became of a message to a running task.
func steered(b *strings.Builder, result any) {
	r, _ := result.(map[string]any)
	if turn, _ := r["turn"].(string); turn != "" {
		fmt.Fprintf(b, "  message   %s\n", turn)
	}
}

func writeList(b *strings.Builder, tasks []*Task) {
	if len(tasks) == 0 {
		b.WriteString("no tasks\n")
		return
	}
	table := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TASK\tSTATUS\tUPDATED\tPROMPT")
	for _, t := range tasks {
		updated := time.UnixMicro(int64(t.UpdatedAt * 1e6)).Format(time.DateTime)
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", t.TaskID, t.Status, updated, clip(t.Prompt, 100))
	}
	_ = table.Flush()
}

func writeNotices(b *strings.Builder, a NotifyAnswer) {
	if len(a.Notifications) == 0 {
		b.WriteString("nobody is waiting to be told\n")
	}
	for _, n := range a.Notifications {
		fmt.Fprintf(b, "%s %s", n.TaskID, n.NotificationStatus)
		for _, more := range []string{n.Target, n.Error} {
			if more != "" {
				b.WriteString(" " + more)
			}
		}
		b.WriteByte('\n')
	}
}

func clip(s string, n int) string {
	if t := short(s, n); t != nil {
		return *t
	}
	return ""
}

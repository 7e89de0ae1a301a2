package readiness

import (
	"fmt"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/server"
)

// fullLong is for how long every slot of a turn has to be taken, and none given to another
// turn, until people are told.
const fullLong = 5 * time.Minute

// FullSince is since when that is so; zero if it is not, or not for long.
func FullSince(slots executor.Slots) time.Time {
	if fullFor(slots) < fullLong {
		return time.Time{}
	}
	return slots.Full
}

// fullFor is for how long that is so, from the first moment on.
func fullFor(slots executor.Slots) time.Duration {
	if slots.Full.IsZero() {
		return 0
	}
	return time.Since(slots.Full)
}

// turnsCheck says how the turns stand. Where they are stuck it does not make us unready:
// answers have to get through, and no restart makes it better.
func turnsCheck(h executor.Health) server.Check {
	slots := h.Slots
	message := fmt.Sprintf("%d of %d run, %d wait for answers, %d messages wait", slots.Working, slots.Limit, slots.Asking+slots.Parked, h.Waiting)
	if since := FullSince(slots); !since.IsZero() {
		message += "; no other turn has begun since " + since.UTC().Format(time.RFC3339)
		if slots.Asking > 0 {
			message += ", for too many wait for answers (RUNTIME_MAX_QUESTIONS): answer or cancel the tasks that ask"
		} else {
			message += "; the tasks that run say what they do, and RUNTIME_MAX_TURNS is how many may"
		}
	}
	return server.Check{Name: "turns", OK: true, Message: message}
}

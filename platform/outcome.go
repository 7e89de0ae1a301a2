package platform

import (
	"context"
	"errors"
)

// Outcome names in one word what became of a call, for those who count: ok; refused, by
// the platform, and it will refuse it again; unavailable, when there was no answer or the
// platform cannot answer now; canceled, by whoever asked; failed, when the answer was of
// no use.
func Outcome(err error) string {
	_, refused := errors.AsType[*Error](err)
	_, again := Again(err)
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case again:
		return "unavailable"
	case refused:
		return "refused"
	}
	return "failed"
}

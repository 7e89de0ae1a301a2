package platform

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// A feature is something that older platforms do not have.
type feature string

// The platform may be replaced by a newer one while we run, so what it lacks is
// looked at again.
const forgetAfter = 10 * time.Minute

// features remembers what the platform lacks.
type features struct {
	mu      sync.Mutex
	missing map[feature]time.Time
}

func (f *features) check(r request) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	since, missing := f.missing[r.feature]
	if r.feature == "" || !missing {
		return nil
	}
	if time.Since(since) > forgetAfter {
		delete(f.missing, r.feature)
		return nil
	}
	return fmt.Errorf("%s: %w", r.op, ErrUnsupported)
}

// learn makes [ErrUnsupported] of an answer which says that there is no such path.
// A page of HTML says nothing of the kind: it comes from a proxy in between. Nor does
// an error in JSON, unless the path names nothing that could be missing itself; that
// is for the request's feature to say.
func (f *features) learn(r request, err error) error {
	refused, ok := errors.AsType[*Error](err)
	if !ok || r.feature == "" || refused.html {
		return err
	}
	switch refused.Status {
	case http.StatusNotFound:
		if !refused.foreign && r.feature.namesEntity() {
			return err
		}
	case http.StatusMethodNotAllowed, http.StatusNotImplemented:
	default:
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.missing[r.feature] = time.Now()
	return fmt.Errorf("%w: %w", ErrUnsupported, err)
}

const (
	featureRequests  feature = "requests"
	featureApprovals feature = "approvals"
	featureChats     feature = "chats"
	featureAck       feature = "activity ack"
	featurePending   feature = "pending uploads"
	featureBroadcast feature = "broadcast"
)

// namesEntity reports whether the paths of the feature name something, beside our
// workspace, that may be gone.
func (f feature) namesEntity() bool { return f == featurePending }

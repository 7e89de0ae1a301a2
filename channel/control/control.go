// Package control is the socket by which commands reach a channel that runs: it lists the replies that were refused for
// good, and has one sent again. What keeps an inbox for others may be asked there to give it up.
package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// controlFile is the socket in the state directory by which other commands reach a
// channel that runs: the state is its own while it does.
const controlFile = "channel.sock"

// listenPrivately listens on a socket that is its owner's only, whatever files are made
// for by default, and also where others may enter its directory.
func listenPrivately(path string) (net.Listener, error) {
	config := net.ListenConfig{Control: private}
	ln, err := config.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return ln, nil
}

// private takes the rights of others from a socket before it has a file: Linux gives that
// the rights of the descriptor. Elsewhere this does nothing, and until the file's are
// changed the directory keeps others out.
func private(_, _ string, socket syscall.RawConn) error {
	return socket.Control(func(fd uintptr) { _ = syscall.Fchmod(int(fd), 0o600) })
}

// longestSocket is how long the path of a socket may be.
const longestSocket = 100

// socketPath returns a path of the socket that is short enough, and what lets go of it.
func socketPath(dir string) (path string, done func(), err error) {
	path = filepath.Join(dir, controlFile)
	if len(path) <= longestSocket {
		return path, func() {}, nil
	}
	open, err := os.Open(dir)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", open.Fd(), controlFile), func() { _ = open.Close() }, nil
}

// Letters are the replies of a channel that were refused for good.
type Letters interface {
	List(ctx context.Context) ([]channel.DeadLetter, error)
	Retry(ctx context.Context, id string) error // of one that it does not know this is [store.ErrUnknown]
}

// A Yielder is Letters of what gives its inbox up to a channel that is started.
type Yielder interface{ Yield() }

// Listen opens the socket in the state directory of a channel, for the commands of those who may read that. The state is
// the channel's own by then.
func Listen(dir string, letters Letters, log *slog.Logger) (Serving, error) {
	path, done, err := socketPath(dir)
	if err != nil {
		return Serving{}, err
	}
	defer done()
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) { // of one that was killed: the state is ours
		return Serving{}, fmt.Errorf("the channel's socket: %w", err)
	}
	ln, err := listenPrivately(path)
	if err != nil {
		return Serving{}, fmt.Errorf("the channel's socket: %w", err)
	}
	return Serve(ln, handler(letters), log), nil
}

func handler(all Letters) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /dead", func(w http.ResponseWriter, r *http.Request) {
		letters, err := all.List(r.Context())
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(letters)
	})
	mux.HandleFunc("POST /dead/retry", func(w http.ResponseWriter, r *http.Request) {
		switch err := all.Retry(r.Context(), r.URL.Query().Get("id")); {
		case errors.Is(err, store.ErrUnknown):
			http.Error(w, "", http.StatusNotFound)
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	if keeper, ok := all.(Yielder); ok {
		mux.HandleFunc("POST "+yieldPath, func(w http.ResponseWriter, _ *http.Request) {
			keeper.Yield()
			w.WriteHeader(http.StatusAccepted)
		})
	}
	return mux
}

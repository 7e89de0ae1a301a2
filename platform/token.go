package platform

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// mostToken is how many bytes of a file that holds a token are read.
const mostToken = 64 << 10

// A Token is where the workspace's bearer token stands: the first of the files that
// holds one, else Value. The files are read with each request; one that is held by a process
// has what it had last.
type Token struct {
	Files []string
	Value string
}

var errNoToken = errors.New("the workspace has no token: set MOLECULE_WORKSPACE_TOKEN, or MOLECULE_WORKSPACE_TOKEN_FILE to a file that holds it")

// read returns the token as it is now. issued is one that the platform has given out
// and that could not be written to a file, or nil; it is newer than what the files hold.
func (t Token) read(files *regular.Keeper, issued *string) (string, error) {
	if issued != nil {
		return *issued, nil
	}
	for _, file := range t.Files {
		text, err := files.Read(file, mostToken)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case errors.Is(err, regular.ErrHeld):
			return "", fmt.Errorf("read the workspace's token: %w (end the process that has a lease on %s)", err, file)
		case err != nil:
			return "", fmt.Errorf("read the workspace's token: %w (let user %d read the file)", err, os.Getuid())
		}
		if token := strings.TrimSpace(string(text)); token != "" {
			return token, nil
		}
	}
	if t.Value == "" {
		return "", errNoToken
	}
	return t.Value, nil
}

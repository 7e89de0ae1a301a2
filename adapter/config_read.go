package adapter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// lookEvery is how often a config.yaml that is not there yet is looked for.
const lookEvery = 200 * time.Millisecond

// AwaitConfig is [ReadConfig] for a file that may be written after our start: it
// waits for it until the time given.
func AwaitConfig(ctx context.Context, file string, until time.Time) (Config, []Warning, error) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for time.Now().Before(until) {
		if info, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) && (err != nil || info.Size() > 0) {
			break
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return Config{}, nil, context.Cause(ctx)
		}
	}
	return ReadConfig(file)
}

// ReadConfig reads the config.yaml at file. Where there is none the defaults hold,
// which is warned about. The error is a [*Problem].
func ReadConfig(file string) (Config, []Warning, error) {
	text, err := regular.Read(file, mostConfig+1)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return DefaultConfig(), []Warning{{File: file, Text: "it is not there; the defaults hold"}}, nil
	case err != nil:
		return Config{}, nil, &Problem{What: err.Error(), Fix: fmt.Sprintf("let user %d read the file", os.Getuid())}
	}
	return ParseConfig(file, text)
}

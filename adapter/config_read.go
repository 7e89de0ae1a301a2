package adapter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
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
	text, err := readRegular(file, mostConfig+1)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return DefaultConfig(), []Warning{{File: file, Text: "it is not there; the defaults hold"}}, nil
	case err != nil:
		return Config{}, nil, &Problem{What: err.Error(), Fix: fmt.Sprintf("let user %d read the file", os.Getuid())}
	}
	return ParseConfig(file, text)
}

// readRegular reads at most so many bytes of a file. It does not wait for the other
// end of a pipe that somebody has put in the file's place.
func readRegular(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is not a file")}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

package roster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	lookEvery = 2 * time.Second
	// settles is for how long a file that has changed has to be the same: what writes in place is not read in its middle.
	settles  = 200 * time.Millisecond
	mostFile = 1 << 20 // bytes
	mostTold = 3       // lines that are told of
)

// file is a list in a file, which is looked at again and again: it may be written in place, replaced by another, or lie
// behind symbolic links that change, as a ConfigMap does.
type file struct{ path string }

func parseFile(path string) (file, error) {
	if rest, ok := strings.CutPrefix(path, "//"); ok && strings.HasPrefix(rest, "/") {
		path = rest // as in file:///path
	}
	if !filepath.IsAbs(path) || strings.HasPrefix(path, "//") {
		return file{}, errors.New("the file of machines has no absolute path: write file:/path")
	}
	return file{filepath.Clean(path)}, nil
}

func (f file) String() string { return "the file " + f.path }

func (f file) Run(ctx context.Context, tell func([]Entry, error)) {
	v := voice{tell: tell}
	var last []Entry
	var seen []byte
	for first := true; ; first = false {
		text, err := f.read()
		if err == nil && !first && !bytes.Equal(text, seen) {
			if !pause(ctx, settles) {
				return
			}
			again, failed := f.read()
			if failed != nil || !bytes.Equal(text, again) {
				text, err = nil, errUnsettled
			}
		}
		if !errors.Is(err, errUnsettled) {
			if err == nil {
				seen = text
				last, err = f.parse(text, last)
			}
			v.say(last, err)
		}
		if !pause(ctx, lookEvery) {
			return
		}
	}
}

// errUnsettled is no trouble: the file is being written, and the next look tells.
var errUnsettled = errors.New("the file is being written")

// read has what stands in the file. A pipe or a device is not opened, as that may take for ever.
func (f file) read() ([]byte, error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return nil, f.kept(err)
	}
	if !info.Mode().IsRegular() {
		return nil, f.kept(fmt.Errorf("%s is no regular file", f.path))
	}
	if info.Size() > mostFile {
		return nil, f.kept(fmt.Errorf("%s has more than %d bytes", f.path, mostFile))
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return nil, f.kept(err)
	}
	return text, nil
}

func (f file) kept(err error) error {
	return fmt.Errorf("the file of machines cannot be read, so the list stays as it was: %w", err)
}

// parse returns the list that holds from now on. A line that is wrong costs itself, and a file in which nothing is right costs
// nothing: it may be anything. One in which nothing stands is an accident, unless a comment shows that it is meant.
func (f file) parse(text []byte, last []Entry) ([]Entry, error) {
	var all []Entry
	var wrong []string
	meant := false
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			meant = meant || line != ""
			continue
		}
		e, err := parseLine(strings.TrimSpace(strings.TrimSuffix(line, ",")))
		if err == nil {
			err = twice(all, e)
		}
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("line %d, %s: %v", n, shown(strings.Fields(line)[0]), err))
			continue
		}
		all = append(all, e)
	}
	switch {
	case len(all) > 0 && len(wrong) > 0:
		return all, fmt.Errorf("%s: %s; the other lines hold", f.path, some(wrong))
	case len(wrong) > 0:
		return last, fmt.Errorf("%s: %s; the list stays as it was", f.path, some(wrong))
	case len(all) == 0 && !meant:
		return last, fmt.Errorf("%s is empty, so the list stays as it was; if no machine is meant, write a line that begins with #", f.path)
	}
	return all, nil
}

func parseLine(line string) (Entry, error) {
	if len(strings.Fields(line)) != 1 {
		return Entry{}, errors.New("is more than one word: write an entry a line, and comments in lines of their own")
	}
	return parseEntry(line)
}

// some are the first of those that are wrong.
func some(wrong []string) string {
	if more := len(wrong) - mostTold; more > 0 {
		return fmt.Sprintf("%s; and %d more lines", strings.Join(wrong[:mostTold], "; "), more)
	}
	return strings.Join(wrong, "; ")
}

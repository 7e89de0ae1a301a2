// Package within tells where a path leads: whether what it names is decided below a
// directory, whatever symbolic links are on the way, and which variables of an environment
// have programs load what lies there.
package within

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// How far a path is followed. Systems follow 40 links or fewer, but each of them can lead
// through as many folders as fit into a path, and each look at one takes as long as its way.
const (
	mostLinks = 40
	mostSteps = 512
	// mostNamed is how many steps a path may take that a message names, which can name hundreds
	// of paths. Twice as many steps take four times as long.
	mostNamed = 128
)

// ErrTooFar says that a path leads over more links or folders than are followed.
var ErrTooFar = errors.New("it leads over too many links or folders")

// A Place is a path, with the name of the setting or variable that it comes from.
type Place struct{ Name, Path string }

// Dir reports whether path is dir or lies below it, with symbolic links followed. Neither
// has to exist. A path whose way leads through dir lies there too, wherever it ends: what
// can be written in dir can put something else in the place of a link or folder. And so does
// one that leads too far to be followed.
func Dir(dir, path string) bool {
	_, inside := Resolve(dir).Holding(path)
	return inside
}

// Dirs are directories whose links have been followed.
type Dirs struct{ named, real []string }

// Resolve follows the links of directories, for many paths. One that leads too far could be
// any: it holds and leads every path.
func Resolve(dirs ...string) Dirs {
	d := Dirs{named: dirs}
	for _, dir := range dirs {
		d.real = append(d.real, Real(dir))
	}
	return d
}

// Holding returns the first of the directories that path lies in, as [Dir] has it.
func (d Dirs) Holding(path string) (dir string, inside bool) {
	steps, end, err := way(path, mostSteps)
	return d.first(func(dir string) bool { return err != nil || end == dir || passes(steps, dir) })
}

// Leading returns the first of the directories that decides where path leads: what can be
// written there can put something else in the place of a part of it. No directory decides
// that of itself.
func (d Dirs) Leading(path string) (dir string, leads bool) {
	steps, _, err := way(path, mostSteps)
	return d.first(func(dir string) bool { return err != nil || passes(steps, dir) })
}

func (d Dirs) first(match func(dir string) bool) (dir string, ok bool) {
	i := slices.IndexFunc(d.real, match)
	if i < 0 {
		return "", false
	}
	return d.named[i], true
}

// passes reports whether one of the steps lies below dir.
func passes(steps []string, dir string) bool {
	return slices.ContainsFunc(steps, func(step string) bool { return below(dir, step) })
}

// below reports whether path is another than dir and lies below it, by their names.
func below(dir, path string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, "/")+"/")
	return ok && rest != ""
}

// way returns the steps that path takes from the root on, those of the links on the way
// among them, and where it ends. No step has a link before its last name. What does not
// exist is no link. The error is [ErrTooFar].
func way(path string, most int) (steps []string, end string, err error) {
	if !filepath.IsAbs(path) {
		here, _ := os.Getwd() // without one, a relative path leads nowhere
		path = here + "/" + path
	}
	end = "/"
	links := 0
	for names := strings.Split(path, "/"); len(names) > 0; {
		name := names[0]
		names = names[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			end = filepath.Dir(end)
			continue
		}
		if len(steps) == most {
			return nil, "", ErrTooFar
		}
		step := filepath.Join(end, name)
		steps = append(steps, step)
		target, err := os.Readlink(step)
		if err != nil {
			end = step
			continue
		}
		if links++; links > mostLinks { // it may lead round in a circle
			return nil, "", ErrTooFar
		}
		if filepath.IsAbs(target) {
			end = "/"
		}
		names = append(strings.Split(target, "/"), names...)
	}
	return steps, end, nil
}

// Real is path without symbolic links, as far as it exists; empty if it leads too far.
func Real(path string) string {
	_, end, _ := way(filepath.Clean(path), mostSteps)
	return end
}

// Follow is path without symbolic links, where it exists. Unlike [filepath.EvalSymlinks] it
// takes no minutes for a path that was made to take long.
func Follow(path string) (string, error) { return follow(path, mostSteps) }

// FollowNamed is Follow for a path that a message names, which has fewer steps.
func FollowNamed(path string) (string, error) { return follow(path, mostNamed) }

func follow(path string, most int) (string, error) {
	_, end, err := way(path, most)
	if err == nil {
		_, err = os.Lstat(end)
	}
	if err != nil {
		return "", &os.PathError{Op: "follow", Path: path, Err: err}
	}
	return end, nil
}

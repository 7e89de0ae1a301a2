// Package within tells where a path leads: whether what it names is decided below a
// directory, whatever symbolic links are on the way, and which variables of an environment
// have programs load what lies there.
package within

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mostLinks is how many symbolic links a path may lead over; systems follow 40 or fewer.
const mostLinks = 255

// A Place is a path, with the name of the setting or variable that it comes from.
type Place struct{ Name, Path string }

// Dir reports whether path is dir or lies below it, with symbolic links followed. Neither
// has to exist. A path whose way leads through dir lies there too, wherever it ends: what
// can be written in dir can put something else in the place of a link or folder.
func Dir(dir, path string) bool {
	_, inside := Any([]string{dir}, path)
	return inside
}

// Any returns the first of dirs that path lies in, as [Dir] has it.
func Any(dirs []string, path string) (dir string, inside bool) {
	steps, end := way(path)
	i := slices.IndexFunc(dirs, func(dir string) bool {
		dir = Real(dir)
		return end == dir || slices.ContainsFunc(steps, func(step string) bool { return below(dir, step) })
	})
	if i < 0 {
		return "", false
	}
	return dirs[i], true
}

// below reports whether path is another than dir and lies below it, by their names.
func below(dir, path string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, "/")+"/")
	return ok && rest != ""
}

// way returns the steps that path takes from the root on, those of the links on the way
// among them, and where it ends. No step has a link before its last name. What does not
// exist is no link.
func way(path string) (steps []string, end string) {
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
		step := filepath.Join(end, name)
		steps = append(steps, step)
		target, err := os.Readlink(step)
		if err != nil {
			end = step
			continue
		}
		if links++; links > mostLinks { // it leads round in a circle
			return steps, step
		}
		if filepath.IsAbs(target) {
			end = "/"
		}
		names = append(strings.Split(target, "/"), names...)
	}
	return steps, end
}

// Real is path without symbolic links, as far as it exists.
func Real(path string) string {
	path = filepath.Clean(path)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(Real(parent), filepath.Base(path))
}

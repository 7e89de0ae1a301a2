package ask

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// Terms are what a "yes" can be to.
type Terms struct {
	Rules bool // callers may make rules for all conversations
	// Unfit says of paths why they are not opened for writing. Nil has nothing against any.
	Unfit func(paths []string) map[string]string
}

// A withheld is what a "yes" does not open, and why.
type withheld struct{ what, why string }

// withheld are those of the paths that are not opened for writing.
func (on Terms) withheld(paths []string) (out []withheld) {
	if on.Unfit == nil {
		return nil
	}
	why := on.Unfit(paths)
	for _, path := range paths {
		if why[path] != "" {
			out = append(out, withheld{path, why[path]})
		}
	}
	return out
}

// narrow returns what is left of permissions without what is not opened for writing. What may be
// read is no subject of it: in a sandbox commands read what codex's user can.
func (on Terms) narrow(permissions map[string]any) (rest map[string]any, out []withheld) {
	files, _ := permissions["fileSystem"].(map[string]any)
	if files == nil || on.Unfit == nil {
		return permissions, nil
	}
	out = on.withheld(writesOf(permissions))
	unfit := func(path any) bool {
		return slices.ContainsFunc(out, func(w withheld) bool { return w.what == path })
	}
	rest, files = maps.Clone(permissions), maps.Clone(files)
	rest["fileSystem"] = files
	opens := false
	entries, _ := files["entries"].([]any)
	entries = slices.DeleteFunc(slices.Clone(entries), func(entry any) bool {
		path, plain, write := readEntry(entry)
		if write && !plain {
			what, _ := json.Marshal(entry)
			out = append(out, withheld{string(what), "is no path of a file or folder"})
		}
		goes := write && (!plain || unfit(path))
		opens = opens || !goes && !isDenial(entry)
		return goes
	})
	if files["entries"] != nil {
		files["entries"] = entries
	}
	if writes, ok := files["write"].([]any); ok {
		writes = slices.DeleteFunc(slices.Clone(writes), unfit)
		files["write"], opens = writes, opens || len(writes) > 0
	}
	reads, _ := files["read"].([]any)
	if !opens && len(reads) == 0 {
		delete(rest, "fileSystem")
	}
	maps.DeleteFunc(rest, func(_ string, v any) bool { return v == nil })
	return rest, out
}

// readEntry says what an entry is for, and whether it is a plain path. What is neither to be read
// nor denied is to be written.
func readEntry(entry any) (path string, plain, write bool) {
	object, _ := entry.(map[string]any)
	where, _ := object["path"].(map[string]any)
	path, plain = where["path"].(string)
	return path, plain && where["type"] == "path", object["access"] != "read" && object["access"] != "deny"
}

func isDenial(entry any) bool {
	object, _ := entry.(map[string]any)
	return object["access"] == "deny"
}

// writesOf are the paths that permissions open for writing, each once.
func writesOf(permissions map[string]any) (paths []string) {
	files, _ := permissions["fileSystem"].(map[string]any)
	entries, _ := files["entries"].([]any)
	for _, entry := range entries {
		if path, plain, write := readEntry(entry); plain && write {
			paths = append(paths, path)
		}
	}
	writes, _ := files["write"].([]any)
	for _, one := range writes {
		if path, ok := one.(string); ok {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// reasons say what is withheld, and why, on one line.
func (d *draft) reasons(all []withheld) string {
	lines := make([]string, 0, len(all))
	for _, one := range all {
		lines = append(lines, brief.Named(one.what)+" "+one.why)
	}
	return d.shown(strings.Join(lines, "; "))
}

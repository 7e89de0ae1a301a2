package executor

import (
	"maps"
	"path/filepath"
	"slices"
)

// leads has data say which of the places lead elsewhere than their names do: what is allowed
// happens there. What lies in the working directory by its name does so behind a link to that,
// too, which is the operator's.
func (p *posing) leads(data map[string]any, places []place) {
	var leads []any
	for _, at := range places {
		if at.led != "" && at.led != p.straight(at.path) {
			leads = append(leads, map[string]any{"path": at.path, "to": at.led})
		}
	}
	if len(leads) > mostChanges {
		leads, p.cut = leads[:mostChanges], true
	}
	if len(leads) > 0 {
		data["leads"] = p.value(leads)
	}
}

// straight is where a path leads that no link below the working directory leads elsewhere.
func (p *posing) straight(path string) string {
	if below, err := filepath.Rel(p.home.path, path); err == nil && filepath.IsLocal(below) {
		return filepath.Join(p.home.led, below)
	}
	return filepath.Clean(path)
}

// folders are the places of files, in fewer of them: their folders, and those files that do not
// lie where their folders lead.
func (p *posing) folders(files []place) []place {
	led := map[string]string{}
	for _, f := range files {
		led[filepath.Dir(f.path)] = ""
	}
	folders := p.look(slices.Collect(maps.Keys(led))...)
	for _, f := range folders {
		led[f.path] = f.led
	}
	return append(folders, slices.DeleteFunc(slices.Clone(files), func(f place) bool {
		return f.led == filepath.Join(led[filepath.Dir(f.path)], filepath.Base(f.path))
	})...)
}

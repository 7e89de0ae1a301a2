package ask

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// readPermissions reads item/permissions/requestApproval. The answer is no
// decision: it says what is granted, and for how long. That can be less than was asked.
func (on Terms) readPermissions(params json.RawMessage) (subject, error) {
	body, err := decode[struct {
		Permissions map[string]any `json:"permissions"`
		Cwd         string         `json:"cwd"`
		Reason      string         `json:"reason"`
	}](params)
	if err == nil && body.Permissions == nil {
		err = errors.New("it names no permissions")
	}
	if err != nil {
		return nil, err
	}
	rest, withheld := on.narrow(body.Permissions)
	choices := []choice{
		{agent.Accept, "yes (for this turn)", Reply{Value: granted(rest, "turn")}},
		{agent.AcceptForSession, "always (for this conversation)", Reply{Value: granted(rest, "session"), lasts: true}},
		{agent.Decline, "no (codex goes on without them)", Reply{Value: granted(map[string]any{}, "turn")}},
	}
	return approval{choices: choices, show: func(d *draft) Posed {
		if len(withheld) > 0 && len(rest) == 0 {
			return Posed{data: map[string]any{}, barred: d.reasons(withheld)}
		}
		data := map[string]any{"permissions": d.value(rest)}
		set(data, "cwd", body.Cwd)
		set(data, "reason", d.shown(body.Reason))
		places := d.look(append(pathsOf(rest), body.Cwd)...)
		d.leads(data, places)
		text := "codex asks for more permissions:\n\n" + brief.Indented(permissionsInWords(d, rest)) + "\n"
		if len(withheld) > 0 {
			why := d.reasons(withheld)
			data["withheld"] = why
			text += "\nNot among them, whatever is answered: " + why + ".\n"
		}
		p := Posed{kind: "permissions", text: text + inWords(data), data: data, Places: places, Opens: writesOf(rest)}
		if opensNetwork(rest) { // in the text they say so
			p.notes = append(p.notes, networkNote)
		}
		return p
	}}, nil
}

// networkNote is what leave for the network is leave for, too.
const networkNote = "The network is this machine's own ports, too, and this runtime's among them."

func opensNetwork(permissions map[string]any) bool {
	network, _ := permissions["network"].(map[string]any)
	return network["enabled"] == true
}

func granted(permissions map[string]any, scope string) map[string]any {
	return map[string]any{"permissions": permissions, "scope": scope}
}

// permissionsInWords names what is asked for. What it does not know it shows as it is.
func permissionsInWords(d *draft, permissions map[string]any) string {
	lines, rest := []string{}, maps.Clone(permissions)
	if opensNetwork(permissions) {
		lines = append(lines, "use the network, this machine's own ports too, and this runtime's among them")
		delete(rest, "network")
	}
	files, _ := permissions["fileSystem"].(map[string]any)
	if entries, ok := files["entries"].([]any); ok && len(entries) > 0 { // what read and write say stands in them
		for _, entry := range entries {
			lines = append(lines, entryInWords(d, entry))
		}
		delete(rest, "fileSystem")
	}
	maps.DeleteFunc(rest, func(_ string, v any) bool { return v == nil })
	if len(rest) > 0 || len(lines) == 0 {
		lines = append(lines, d.json(rest))
	}
	return d.shown(strings.Join(lines, "\n"))
}

func entryInWords(d *draft, entry any) string {
	object, _ := entry.(map[string]any)
	where, _ := object["path"].(map[string]any)
	access, known := object["access"].(string)
	path, isPath := where["path"].(string)
	if !known || !isPath || where["type"] != "path" {
		return d.json(entry)
	}
	return access + " " + brief.Named(path)
}

// pathsOf are the paths of files in permissions, each once: codex repeats in entries what the
// lists say.
func pathsOf(permissions map[string]any) (paths []string) {
	files, _ := permissions["fileSystem"].(map[string]any)
	entries, _ := files["entries"].([]any)
	for _, entry := range entries {
		object, _ := entry.(map[string]any)
		where, _ := object["path"].(map[string]any)
		if path, ok := where["path"].(string); ok {
			paths = append(paths, path)
		}
	}
	for _, access := range []string{"read", "write"} {
		list, _ := files[access].([]any)
		for _, one := range list {
			if path, ok := one.(string); ok {
				paths = append(paths, path)
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

package ask

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// readFileChange reads item/fileChange/requestApproval. What is to be changed
// stands in the item, which codex has begun before it asks.
func (on Terms) readFileChange(params json.RawMessage) (subject, error) {
	body, err := decode[struct {
		ItemID    string `json:"itemId"`
		Reason    string `json:"reason"`
		GrantRoot string `json:"grantRoot"`
	}](params)
	if err != nil {
		return nil, err
	}
	root := slices.DeleteFunc([]string{body.GrantRoot}, func(s string) bool { return s == "" })
	withheld := on.withheld(root)
	return approval{choices: decisions("changes to these files, whatever they are, are"), show: func(d *draft) Posed {
		data, text := map[string]any{}, "codex asks whether it may change files"
		set(data, "reason", d.shown(body.Reason))
		set(data, "grantRoot", body.GrantRoot)
		all := d.Changes(body.ItemID)
		if len(all) > mostChanges { // each would be followed to where it leads
			return Posed{kind: "fileChange", text: text, data: data, unseen: fmt.Sprintf("change %d files at once", len(all))}
		}
		places := d.look(append(pathsIn(all), body.GrantRoot)...)
		changes, names := changesOf(d, all, places)
		if len(changes) > 0 {
			data["changes"] = changes
			text += ":\n\n" + brief.Indented(strings.Join(names, "\n")) + "\n"
		}
		if body.GrantRoot != "" {
			text += "\nand to write below " + brief.Named(body.GrantRoot) + " from now on"
		}
		d.leads(data, d.folders(places))
		p := Posed{kind: "fileChange", text: text + inWords(data), data: data, Places: places, Opens: root, barred: d.reasons(withheld)}
		if len(changes) == 0 { // also with a root, below which they need not lie
			p.unseen = "change files, without saying which"
		}
		return p
	}}, nil
}

// pathsIn are those that changes name.
func pathsIn(changes []agent.Change) []string {
	paths := make([]string, 0, 1+2*len(changes))
	for _, c := range changes {
		paths = append(paths, c.Path, c.To)
	}
	return paths
}

// changesOf shows the changes of a patch: their diffs whole where all of them have room,
// and else each with its share of it. What codex calls to add takes the place of what is there.
func changesOf(d *draft, all []agent.Change, places []Place) (changes []any, names []string) {
	taken := map[string]bool{}
	for _, p := range places {
		taken[p.Path] = p.There
	}
	total := 0
	for _, c := range all {
		total += len(c.Diff)
	}
	each := mostShown
	if total > mostShown {
		each = mostShown / len(all)
	}
	for _, c := range all {
		name, diff := c.Kind+" "+brief.Named(c.Path), d.within(d.clean(c.Diff), each)
		change := map[string]any{"path": c.Path, "kind": c.Kind, "diff": diff}
		if to := c.To; to != "" {
			change["to"], name = to, name+", which becomes "+brief.Named(to)
		}
		if taken[made(c)] {
			change["replaces"], name = true, name+", in the place of what is there"
		}
		if diff != "" {
			name += "\n" + brief.Indented(diff)
		}
		changes, names = append(changes, change), append(names, name)
	}
	return changes, names
}

// made is the file that a change makes; empty if it makes none.
func made(c agent.Change) string {
	if c.Kind == "add" {
		return c.Path
	}
	return c.To
}

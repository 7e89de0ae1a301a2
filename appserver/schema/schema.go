package schema

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// A Folder is what one codex says of its protocol. It is not safe for concurrent use.
type Folder struct {
	files fs.FS
	read  map[string]Type
}

// Open returns the protocol that stands in files.
func Open(files fs.FS) *Folder { return &Folder{files, map[string]Type{}} }

// A Type is one file of a folder: what values of that type may be.
type Type struct{ root map[string]any }

// Type returns the type of a file, named without its ending, such as v2/TurnStartParams. Where there is
// no such file the error is [fs.ErrNotExist].
func (f *Folder) Type(name string) (Type, error) {
	if known, ok := f.read[name]; ok {
		return known, nil
	}
	text, err := fs.ReadFile(f.files, name+".json")
	if err != nil {
		return Type{}, err
	}
	var t Type
	if err := json.Unmarshal(text, &t.root); err != nil {
		return Type{}, fmt.Errorf("%s.json: %w", name, err)
	}
	f.read[name] = t
	return t, nil
}

// Methods returns the methods of a type that stands for all messages of a kind: ClientRequest,
// ServerRequest, ServerNotification.
func (f *Folder) Methods(name string) ([]string, error) {
	t, err := f.Type(name)
	if err != nil {
		return nil, err
	}
	all := t.Values("method")
	slices.Sort(all)
	return all, nil
}

// Values returns the strings that a member may be, of those that the schema enumerates. The path names
// members; of a list it goes on with the elements.
func (t Type) Values(path ...string) []string {
	nodes := []any{t.root}
	for _, name := range path {
		var next []any
		for _, node := range t.plain(nodes) {
			members, _ := node["properties"].(map[string]any)
			if member, ok := members[name]; ok {
				next = append(next, member)
			}
		}
		nodes = next
	}
	var found []string
	for _, node := range t.plain(nodes) {
		for _, text := range words(node) {
			if !slices.Contains(found, text) {
				found = append(found, text)
			}
		}
	}
	return found
}

// words are the strings that a node says it is one of; newer schemas have a single one by another name.
func words(node map[string]any) (all []string) {
	for _, value := range append(slices.Clone(list(node["enum"])), node["const"]) {
		if text, ok := value.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// plain returns the alternatives of nodes: what they are themselves, what they refer to, what they are
// one of or all of, and the elements of lists.
func (t Type) plain(nodes []any) []map[string]any { return t.spread(nodes, map[string]bool{}) }

func (t Type) spread(nodes []any, seen map[string]bool) (all []map[string]any) {
	for _, one := range nodes {
		node, ok := one.(map[string]any)
		if !ok {
			continue
		}
		all = append(all, node)
		var inner []any
		if ref, ok := node["$ref"].(string); ok && !seen[ref] { // a type may have itself for a member of a list
			seen[ref] = true
			inner = append(inner, t.resolve(ref))
		}
		for _, key := range []string{"anyOf", "oneOf", "allOf"} {
			inner = append(inner, list(node[key])...)
		}
		if items, ok := node["items"]; ok {
			inner = append(inner, items)
		}
		all = append(all, t.spread(inner, seen)...)
	}
	return all
}

func (t Type) resolve(ref string) any {
	var node any = t.root
	for step := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		members, _ := node.(map[string]any)
		node = members[step]
	}
	return node
}

func list(node any) []any {
	all, _ := node.([]any)
	return all
}

package schema

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Uses returns what the type has of the members that values of a Go type have in JSON: by its path
// what each may be. A member that the type does not have is in missing. A member that Go leaves open, such as
// raw JSON, is not looked into.
func (t Type) Uses(of reflect.Type) (found map[string]string, missing []string) {
	u := uses{t, map[string]string{}, nil}
	u.walk(of, []any{t.root}, "")
	slices.Sort(u.missing)
	return u.found, u.missing
}

type uses struct {
	Type
	found   map[string]string
	missing []string
}

func (u *uses) walk(of reflect.Type, nodes []any, at string) {
	switch of.Kind() {
	case reflect.Pointer:
		u.walk(of.Elem(), nodes, at)
	case reflect.Slice:
		u.walk(of.Elem(), nodes, at) // plain looks at the elements
	case reflect.Map:
		u.walk(of.Elem(), u.values(nodes), at+".*")
	case reflect.Struct:
		members := u.members(nodes)
		for field := range of.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "-" || name == "" { // it stands beside the JSON, or in this struct itself
				if name == "" && field.Anonymous {
					u.walk(field.Type, nodes, at)
				}
				continue
			}
			path := strings.TrimPrefix(at+"."+name, ".")
			inner, ok := members[name]
			if !ok {
				u.missing = append(u.missing, path)
				continue
			}
			u.found[path] = u.shape(inner)
			u.walk(field.Type, inner, path)
		}
	default:
	}
}

// members returns what values may have as members, in any of their alternatives.
func (u *uses) members(nodes []any) map[string][]any {
	all := map[string][]any{}
	for _, node := range u.plain(nodes) {
		members, _ := node["properties"].(map[string]any)
		for name, member := range members {
			all[name] = append(all[name], member)
		}
	}
	return all
}

// values returns what the values of an object may be whose names are free.
func (u *uses) values(nodes []any) (inner []any) {
	for _, node := range u.plain(nodes) {
		if of, ok := node["additionalProperties"].(map[string]any); ok {
			inner = append(inner, of)
		}
	}
	return inner
}

// shape says in one line what a member may be, for comparing: its JSON types, and the strings that it is
// one of.
func (u *uses) shape(nodes []any) string {
	kinds := map[string]bool{}
	for _, node := range u.plain(nodes) {
		switch kind := node["type"].(type) {
		case string:
			kinds[kind] = true
		case []any:
			for _, one := range kind {
				if text, ok := one.(string); ok {
					kinds[text] = true
				}
			}
		}
		for _, text := range words(node) {
			kinds["'"+text+"'"] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(kinds)), "|")
}

package main

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver/schema"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
)

// compare says what differs between two protocols for the runtime: what it uses that is changed or gone, and what
// is new that it may have to know.
func compare(to io.Writer, older, newer fs.FS) error {
	before, err := codex.ReadProtocol(older)
	if err != nil {
		return err
	}
	after, err := codex.ReadProtocol(newer)
	if err != nil {
		return err
	}
	section(to, "Gone, and used", gone(before, after))
	section(to, "There now, and used", gone(after, before))
	section(to, "Changed, and used", changed(before, after))
	for _, kind := range []struct{ title, of string }{
		{"Requests of codex", "ServerRequest"}, {"Notifications", "ServerNotification"}, {"Methods that can be called", "ClientRequest"},
	} {
		if err := methods(to, kind.title, kind.of, older, newer); err != nil {
			return err
		}
	}
	return kinds(to, older, newer)
}

func section(to io.Writer, title string, lines []string) {
	if len(lines) == 0 {
		lines = []string{"none"}
	}
	_, _ = fmt.Fprintf(to, "%s:\n  %s\n", title, strings.Join(lines, "\n  "))
}

// gone are what a codex lacks that the other one has.
func gone(has, lacks codex.Protocol) (all []string) {
	for _, m := range lacks.Missing {
		if _, there := has.Used[m.What]; there {
			all = append(all, strings.TrimSuffix(m.What+" ("+m.Lesser+")", " ()"))
		}
	}
	return all
}

// changed are what may be something else. The same member stands in many messages, and is named once.
func changed(before, after codex.Protocol) (all []string) {
	names := map[string][]string{}
	for name, was := range before.Used {
		is, there := after.Used[name]
		if !there || was == is {
			continue
		}
		_, member, _ := strings.Cut(name, ": ")
		words := member[strings.LastIndexByte(member, '.')+1:] + ": " + differing(was, is)
		names[words] = append(names[words], name)
	}
	for _, words := range slices.Sorted(maps.Keys(names)) {
		in := names[words]
		slices.Sort(in)
		line := words + " (" + in[0]
		if len(in) > 1 {
			line += fmt.Sprintf(", and %d more", len(in)-1)
		}
		all = append(all, line+")")
	}
	return all
}

// differing says what of a shape is new, and what is gone.
func differing(was, is string) string {
	before, after := strings.Split(was, "|"), strings.Split(is, "|")
	var all []string
	for _, kind := range after {
		if !slices.Contains(before, kind) {
			all = append(all, "+"+kind)
		}
	}
	for _, kind := range before {
		if !slices.Contains(after, kind) {
			all = append(all, "-"+kind)
		}
	}
	return strings.Join(all, " ")
}

func methods(to io.Writer, title, of string, older, newer fs.FS) error {
	before, err := schema.Open(older).Methods(of)
	if err != nil {
		return err
	}
	after, err := schema.Open(newer).Methods(of)
	if err != nil {
		return err
	}
	section(to, title+", new and gone", strings.Fields(differing(strings.Join(before, "|"), strings.Join(after, "|"))))
	return nil
}

// kinds says which kinds of items are new; one that is not known counts as a tool.
func kinds(to io.Writer, older, newer fs.FS) error {
	before, err := schema.Open(older).Type("v2/ItemCompletedNotification")
	if err != nil {
		return err
	}
	after, err := schema.Open(newer).Type("v2/ItemCompletedNotification")
	if err != nil {
		return err
	}
	of := func(t schema.Type) string { return strings.Join(t.Values("item", "type"), "|") }
	section(to, "Kinds of items, new and gone", strings.Fields(differing(of(before), of(after))))
	return nil
}

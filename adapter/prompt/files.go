package prompt

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// defaultFile is the prompt of a workspace whose configuration names none.
const defaultFile = "system-prompt.md"

// ownParts are the parts of the instructions that stand in the workspace's own files.
type ownParts struct{ files, plugins, skills string }

// own reads them, as codex's user: commands may own folders on the way to them, and put
// links there that lead to what is ours alone.
func (b *Builder) own(files, skills []string) ownParts {
	b.held = false
	own, err := asuser.Value(b.cfg.User, func() (ownParts, error) {
		return ownParts{files: b.files(files), plugins: b.plugins(), skills: b.skills(skills)}, nil
	})
	if err != nil {
		b.once("user", "the files of the workspace's prompt cannot be read as codex's user and are left out", "err", err)
		return ownParts{}
	}
	b.well("user")
	if b.held && b.last != nil { // a command of the same user is not to choose what instructs it
		return *b.last
	}
	b.last = &own
	return own
}

// files are the prompt files, and then what the workspace remembers in files of its
// own.
func (b *Builder) files(wanted []string) string {
	names := wanted
	if len(names) == 0 {
		names = []string{defaultFile}
	}
	root, err := regular.Root(b.cfg.Dir)
	if err != nil {
		b.once("dir", "the folder of the workspace's configuration cannot be opened; its prompt is left out", "err", b.cfg.User.Unread(err))
		return ""
	}
	defer root.Close()
	b.well("dir")
	var texts []string
	for _, name := range names {
		texts = append(texts, b.file(root, name, len(wanted) > 0))
	}
	for _, name := range []string{"MEMORY.md", "USER.md"} {
		if !slices.Contains(names, name) {
			texts = append(texts, b.file(root, name, false))
		}
	}
	return joined(texts...)
}

// file reads a file below a folder: nothing outside, whatever links there are.
func (b *Builder) file(root *os.Root, name string, wanted bool) string {
	text, err := readBelow(root, below(b.cfg.Dir, name))
	key := "file " + root.Name() + name
	if err == nil {
		b.well(key)
		return text
	}
	b.held = b.held || errors.Is(err, regular.ErrHeld)
	if wanted || !errors.Is(err, fs.ErrNotExist) {
		b.once(key, "a file of the workspace's prompt cannot be read and is left out", "file", name, "err", b.cfg.User.Unread(err))
	}
	return ""
}

// below is the name of a file in a folder, which may be given with the folder's own.
func below(dir, name string) string {
	return filepath.Clean(strings.TrimPrefix(name, dir+string(filepath.Separator)))
}

// ReadFile reads a file of the workspace's configuration, such as an initial prompt, as
// codex's user: nothing outside of its folder, and nothing that is ours alone.
func ReadFile(dir, name string, user *asuser.User) (string, error) {
	return asuser.Value(user, func() (string, error) {
		root, err := regular.Root(dir)
		if err != nil {
			return "", user.Unread(err)
		}
		defer root.Close()
		text, err := readBelow(root, below(dir, name))
		return text, user.Unread(err)
	})
}

func readBelow(root *os.Root, name string) (string, error) {
	text, err := regular.ReadIn(root, name, mostFile+1)
	if err != nil {
		return "", err
	}
	return shortened(strings.ToValidUTF8(string(text), "�"), mostFile), nil
}

// plugins are the rules of the plugins, and what else they have to say.
func (b *Builder) plugins() string {
	var rules, fragments section
	for _, dir := range b.cfg.Plugins {
		b.each(dir, func(root *os.Root, plugin string) {
			b.texts(&rules, root, path.Join(plugin, "rules"))
			b.texts(&fragments, root, plugin)
		})
	}
	return joined(titled("## Platform Rules", rules.text()), titled("## Platform Guidelines", fragments.text()))
}

// each calls f with each folder in dir, in the order of their names.
func (b *Builder) each(dir string, f func(root *os.Root, name string)) {
	root, err := regular.Root(dir)
	b.shut(dir, err)
	if err != nil {
		return
	}
	defer root.Close()
	for _, name := range b.names(root, ".") {
		if info, err := root.Stat(name); err != nil || !info.IsDir() || strings.HasPrefix(name, ".") {
			continue
		}
		plugin, err := regular.RootIn(root, name)
		if err != nil {
			b.shut(filepath.Join(dir, name), err)
			continue
		}
		_ = plugin.Close()
		f(root, name)
	}
}

// names are those in a folder, in order. Commands may own it, and fill it: of more than so
// many the others are left out.
func (b *Builder) names(root *os.Root, dir string) (names []string) {
	folder, err := regular.RootIn(root, dir)
	if err == nil {
		names, err = regular.NamesIn(folder, mostNames, regular.All)
		_ = folder.Close()
	}
	b.shut(filepath.Join(root.Name(), dir), err)
	return names
}

// shut says of a folder of plugins, or of one of them, that it may not be read, or not as a
// whole. One that is not there has nothing.
func (b *Builder) shut(dir string, err error) {
	switch {
	case errors.Is(err, fs.ErrPermission):
		b.once("dir "+dir, "a folder of plugins cannot be read and is left out", "dir", dir, "err", b.cfg.User.Unread(err))
	case errors.Is(err, regular.ErrMany):
		b.once("dir "+dir, "a folder of plugins has more names than are looked at: part of it is left out", "dir", dir, "most", mostNames)
	default:
		b.well("dir " + dir)
	}
}

// texts reads the texts in a folder, but those about the plugin itself.
func (b *Builder) texts(to *section, root *os.Root, dir string) {
	names := slices.DeleteFunc(b.names(root, dir), func(name string) bool { return path.Ext(name) != ".md" })
	for _, name := range names[:min(len(names), mostFiles)] {
		switch strings.ToUpper(strings.TrimSuffix(name, ".md")) {
		case "README", "CHANGELOG", "CONTRIBUTING", "LICENSE", "SKILL":
			continue
		}
		to.add(func() string { return b.file(root, path.Join(dir, name), true) })
	}
}

// A section is made of the texts of files: of as many as find room in the whole.
type section struct {
	texts []string
	size  int
}

func (s *section) add(read func() string) {
	if s.size > mostText { // the rest would be cut
		return
	}
	text := read()
	s.texts = append(s.texts, text)
	s.size += len(text)
}

func (s *section) text() string { return joined(s.texts...) }

// skills are those that the configuration names, and those of the plugins.
func (b *Builder) skills(wanted []string) string {
	var all section
	if root, err := regular.Root(filepath.Join(b.cfg.Dir, "skills")); err == nil {
		for _, name := range wanted {
			all.add(func() string { return skill(name, b.file(root, path.Join(name, "SKILL.md"), true)) })
		}
		_ = root.Close()
	} else if len(wanted) > 0 {
		b.once("skills", "the workspace's skills cannot be read and are left out", "err", b.cfg.User.Unread(err))
	}
	for _, dir := range b.cfg.Plugins {
		b.each(dir, func(root *os.Root, plugin string) { b.pluginSkills(&all, root, path.Join(plugin, "skills")) })
	}
	return titled("## Your Skills", all.text())
}

func (b *Builder) pluginSkills(to *section, root *os.Root, dir string) {
	there := 0
	for _, name := range b.names(root, dir) {
		file := path.Join(dir, name, "SKILL.md")
		if _, err := root.Stat(file); err != nil || there == mostFiles {
			continue
		}
		there++
		to.add(func() string { return skill(name, b.file(root, file, true)) })
	}
}

// skill makes a section of a skill's file, which begins with its name and what it is
// for between two lines of dashes.
func skill(name, text string) string {
	if text == "" {
		return ""
	}
	description := ""
	if head, rest, ok := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---"); ok && strings.HasPrefix(text, "---\n") {
		text = rest
		for line := range strings.Lines(head) {
			key, value, _ := strings.Cut(line, ":")
			value = strings.Trim(strings.TrimSpace(value), `"'`)
			switch {
			case key == "name" && value != "":
				name = value
			case key == "description":
				description = value
			}
		}
	}
	return joined("### "+name, description, text)
}

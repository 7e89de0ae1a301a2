package prompt

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// defaultFile is the prompt of a workspace whose configuration names none.
const defaultFile = "system-prompt.md"

// files are the prompt files, and then what the workspace remembers in files of its
// own.
func (b *Builder) files(wanted []string) string {
	names := wanted
	if len(names) == 0 {
		names = []string{defaultFile}
	}
	root, err := os.OpenRoot(b.cfg.Dir)
	if err != nil {
		b.once("dir", "the folder of the workspace's configuration cannot be opened; its prompt is left out", "err", err)
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
	if wanted || !errors.Is(err, fs.ErrNotExist) {
		b.once(key, "a file of the workspace's prompt cannot be read and is left out", "file", name, "err", err)
	}
	return ""
}

// below is the name of a file in a folder, which may be given with the folder's own.
func below(dir, name string) string {
	return filepath.Clean(strings.TrimPrefix(name, dir+string(filepath.Separator)))
}

// ReadFile reads a file of the workspace's configuration, such as an initial prompt:
// nothing outside of its folder.
func ReadFile(dir, name string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	return readBelow(root, below(dir, name))
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
	var rules, fragments []string
	for _, dir := range b.cfg.Plugins {
		b.each(dir, func(root *os.Root, plugin string) {
			rules = append(rules, b.texts(root, path.Join(plugin, "rules", "*.md"))...)
			fragments = append(fragments, b.texts(root, path.Join(plugin, "*.md"))...)
		})
	}
	return joined(titled("## Platform Rules", joined(rules...)), titled("## Platform Guidelines", joined(fragments...)))
}

// each calls f with each folder in dir, in the order of their names.
func (b *Builder) each(dir string, f func(root *os.Root, name string)) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return // there are none
	}
	defer root.Close()
	entries, _ := fs.ReadDir(root.FS(), ".")
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		if info, err := root.Stat(entry.Name()); err == nil && info.IsDir() {
			f(root, entry.Name())
		}
	}
}

// texts reads the files that a pattern finds, but those about the plugin itself.
func (b *Builder) texts(root *os.Root, pattern string) (texts []string) {
	names, _ := fs.Glob(root.FS(), pattern)
	for _, name := range names[:min(len(names), mostFiles)] {
		switch strings.ToUpper(strings.TrimSuffix(path.Base(name), ".md")) {
		case "README", "CHANGELOG", "CONTRIBUTING", "LICENSE", "SKILL":
			continue
		}
		texts = append(texts, b.file(root, name, true))
	}
	return texts
}

// skills are those that the configuration names, and those of the plugins.
func (b *Builder) skills(wanted []string) string {
	var all []string
	if root, err := os.OpenRoot(filepath.Join(b.cfg.Dir, "skills")); err == nil {
		for _, name := range wanted {
			all = append(all, skill(name, b.file(root, path.Join(name, "SKILL.md"), true)))
		}
		_ = root.Close()
	} else if len(wanted) > 0 {
		b.once("skills", "the workspace's skills cannot be read and are left out", "err", err)
	}
	for _, dir := range b.cfg.Plugins {
		b.each(dir, func(root *os.Root, plugin string) {
			names, _ := fs.Glob(root.FS(), path.Join(plugin, "skills", "*", "SKILL.md"))
			for _, name := range names[:min(len(names), mostFiles)] {
				all = append(all, skill(path.Base(path.Dir(name)), b.file(root, name, true)))
			}
		})
	}
	return titled("## Your Skills", joined(all...))
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

package adapter

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// systemConfig is the configuration that codex reads before the one in its home.
const systemConfig = "/etc/codex/config.toml"

// own are the operator's settings, those in codex's home before those of the machine. The
// warnings say which of the two cannot be read.
func (l Launch) own() (config map[string]any, unread []Warning) {
	config = map[string]any{}
	for _, at := range []struct{ file, text string }{{systemConfig, l.SystemConfig}, {filepath.Join(l.Home, "config.toml"), l.UserConfig}} {
		read, err := readTOML(at.text)
		if err != nil {
			unread = append(unread, Warning{File: at.file, Text: fmt.Sprintf("%v: it is not known which MCP servers codex starts where its commands write", err)})
			continue
		}
		fromFolder(read, filepath.Dir(at.file))
		merge(config, read)
	}
	return config, unread
}

// readConfig reads the configuration in codex's home, and the machine's. Without it codex must
// not start: what keeps its servers from what commands write goes by it, and codex, which reads
// it a moment later, may find it. A command that may only read it can have it not be read for
// a while, by a lease (fcntl). The error is a [*Problem].
func (l *Launch) readConfig() error {
	text, err := asuser.Value(l.User, func() ([]byte, error) { return readIfThere(filepath.Join(l.Home, "config.toml")) })
	system, errSystem := readIfThere(systemConfig)
	l.UserConfig, l.SystemConfig = string(text), string(system)
	config, _ := l.own()
	l.Project, _ = asuser.Value(l.User, func() (Project, error) { return lookAt(l.WorkDir, l.Home, markersOf(config)), nil })
	if err := cmp.Or(err, errSystem); err != nil {
		return &Problem{What: "codex's configuration cannot be read: " + err.Error(), Fix: "let codex's user read it, and end what holds it"}
	}
	return nil
}

func readIfThere(file string) ([]byte, error) {
	text, err := regular.Read(file, mostConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// fromFolder has the roots of a file that are relative lead from the file's folder, as codex has it.
func fromFolder(config map[string]any, dir string) {
	all, _ := tableOf(config, "sandbox_workspace_write")["writable_roots"].([]any)
	for i, one := range all {
		if root, ok := one.(string); ok && !filepath.IsAbs(root) && !strings.HasPrefix(root, "~") {
			all[i] = filepath.Join(dir, root)
		}
	}
}

// markersOf are the names by which codex knows the root of a project.
func markersOf(config map[string]any) []string {
	own, said := config["project_root_markers"].([]any)
	if !said {
		return []string{".git"}
	}
	names := make([]string, 0, len(own))
	for _, one := range own {
		if name, ok := one.(string); ok {
			names = append(names, name)
		}
	}
	return names
}

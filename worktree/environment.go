package worktree

import (
	"fmt"
	"path/filepath"
	"strings"
)

// settings are those of git that stand above what any file says.
//
//nolint:gochecknoglobals // a table
var settings = [][2]string{
	// Nothing that stands in a repository or a tree is run.
	{"core.hooksPath", "/dev/null"},
	{"core.fsmonitor", "false"},
	{"core.askPass", "false"},
	{"core.editor", "false"},
	{"core.pager", "cat"},
	{"core.gitProxy", ""},
	{"core.sshCommand", "ssh -oBatchMode=yes"},
	{"credential.helper", ""},
	{"commit.gpgSign", "false"},
	{"gc.auto", "0"},
	{"maintenance.auto", "false"},
	// No submodule is looked into.
	{"submodule.recurse", "false"},
	{"fetch.recurseSubmodules", "false"},
	{"diff.ignoreSubmodules", "all"},
	// Files come back as they were.
	{"core.attributesFile", "/dev/null"},
	{"core.excludesFile", "/dev/null"},
	{"core.autocrlf", "false"},
	{"core.safecrlf", "false"},
	{"core.fileMode", "true"},
	{"core.symlinks", "true"},
	{"core.untrackedCache", "false"},
	{"core.splitIndex", "false"},
	{"core.quotePath", "false"},
	{"core.precomposeUnicode", "false"},
	// A power cut takes no commit that was told.
	{"core.fsync", "committed,reference"},
	{"core.fsyncMethod", "batch"},
	// Large files do not come into memory.
	{"core.bigFileThreshold", "16m"},
	{"transfer.fsckObjects", "true"},
	{"transfer.unpackLimit", "1"},
	{"fetch.fsck.zeroPaddedFilemode", "ignore"},
	{"fetch.fsck.missingSpaceBeforeDate", "ignore"},
	{"fetch.fsck.badTimezone", "ignore"},
	{"advice.addEmbeddedRepo", "false"},
	{"safe.directory", "*"},
	{"safe.bareRepository", "all"},
	{"protocol.version", "2"},
}

// strictness is what objects that come in are held to: all that git knows, but for what old programs have written into
// many repositories, and harms nothing.
const strictness = "zeroPaddedFilemode=ignore,missingSpaceBeforeDate=ignore,badTimezone=ignore"

// environment is all that git has in its environment.
func environment(program string) []string {
	env := make([]string, 0, 32+2*len(settings))
	env = append(env,
		"PATH="+filepath.Dir(program)+":/usr/local/bin:/usr/bin:/bin",
		"HOME=/dev/null", "XDG_CONFIG_HOME=/dev/null", "LC_ALL=C", "TZ=UTC", "TERM=dumb",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=false", "SSH_ASKPASS=false", "GIT_EDITOR=false", "GIT_PAGER=cat",
		"GIT_ALLOW_PROTOCOL=", "GIT_PROTOCOL_FROM_USER=0", "GIT_NO_LAZY_FETCH=1",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_OPTIONAL_LOCKS=0", "GIT_LITERAL_PATHSPECS=1",
		"GIT_DEFAULT_HASH=sha1", "GIT_DEFAULT_REF_FORMAT=files", "GIT_ADVICE=0",
		fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings)),
	)
	for i, s := range settings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s[1]))
	}
	return env
}

// The files of the repository in which git would look for what it is to do. What stands in them is ours.
const (
	configText = `# Kept by the runtime: what is changed here is put back.
[core]
	repositoryformatversion = 0
	filemode = true
	bare = true
[gc]
	auto = 0
	worktreePruneExpire = never
[maintenance]
	auto = false
`
	headText = "ref: refs/heads/none\n"
	// attributesText stands above all attributes that a tree has: no file is led through a program, and none through
	// a conversion that the C library loads by its name.
	attributesText = "* !filter !working-tree-encoding\n"
)

// keptFiles are the files of a repository that are put back where they are not as they have to be.
func keptFiles(dir string, exclude []string) map[string]string {
	return map[string]string{
		filepath.Join(dir, "config"):          configText,
		filepath.Join(dir, "HEAD"):            headText,
		filepath.Join(dir, "info/attributes"): attributesText,
		filepath.Join(dir, "info/exclude"):    patterns(exclude),
	}
}

// patterns is a list of them, for a file.
func patterns(list []string) string {
	var text strings.Builder
	for _, pattern := range list {
		text.WriteString(strings.Map(func(r rune) rune {
			if r == '\n' || r == '\r' || r == 0 {
				return -1
			}
			return r
		}, pattern) + "\n")
	}
	return text.String()
}

package codex

import (
	"maps"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
)

// spare has the thread of c be loaded so that codex reads no file of instructions, where one is
// too large: where the turn works, which is to run or was cut, or the thread itself.
func (d *Driver) spare(c *conversation, on *child.Child, params appserver.ThreadStartParams) appserver.ThreadStartParams {
	c.spared = on.Oversized(d.cfg.Thread.Cwd)
	if c.spared == "" && c.folder != "" {
		c.spared = on.Oversized(c.folder)
	}
	if c.spared == "" {
		return params
	}
	d.log.Warn("codex reads no AGENTS.md in a conversation: a file is larger than 1 MiB, or does not say how large it is, and codex would have all of it in memory", "path", c.spared, "fix", "remove it, and see which command makes it")
	return withoutDocuments(params)
}

// withoutDocuments has codex read no file of instructions of any folder, for as long as the
// thread is loaded. The one in its home is read all the same.
func withoutDocuments(params appserver.ThreadStartParams) appserver.ThreadStartParams {
	config := map[string]any{}
	maps.Copy(config, params.Config)
	config["project_doc_max_bytes"] = 0
	params.Config = config
	return params
}

// overreads reports whether codex would read a file that is too large in a turn, though
// the thread of c is loaded.
func (d *Driver) overreads(c *conversation, o agent.Options, on *child.Child) bool {
	return c.spared == "" && c.says(o) && d.isLoaded(c, on) && on.Oversized(c.folder) != ""
}

// sparedReading is what the sender of a message reads whose turn is without AGENTS.md.
const sparedReading = "Codex reads no AGENTS.md in this conversation: %s was larger than 1 MiB when it was loaded, or did not say how large it is, and codex would have had all of that in memory. " +
	"Remove the file, or put a smaller one there; a conversation that begins then reads what there is."

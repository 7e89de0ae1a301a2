package codex

import (
	"cmp"
	"maps"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
)

// newThread returns what the thread of c is loaded with in a child, and the digest of its
// instructions.
func (d *Driver) newThread(c *conversation, on *child.Child) (params appserver.ThreadStartParams, digest string) {
	params = d.threadOn(on)
	granted := d.grantOf(c)
	params.ApprovalPolicy, params.Sandbox = appserver.ApprovalPolicy(granted.policy), appserver.SandboxMode(granted.sandbox)
	params.DeveloperInstructions, digest = d.instructions()
	params.Environments = c.environments("")
	return d.spare(c, on, params), digest
}

// threadOn is what threads are started with in a child.
func (d *Driver) threadOn(on *child.Child) appserver.ThreadStartParams {
	params := d.cfg.Thread.params()
	params.Model = cmp.Or(on.Launch.Model, params.Model)
	params.ModelProvider = cmp.Or(on.Launch.ModelProvider, params.ModelProvider)
	if on.Launch.Thread != nil {
		params.Config = on.Launch.Thread()
	}
	return params
}

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

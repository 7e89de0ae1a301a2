package tasks

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// Bounds are what the operator lets messages ask for: what the settings say, or
// less. A zero field lets them ask for nothing of its kind.
type Bounds struct {
	WorkDir        string // a message's cwd is this or under it, after symlinks
	Sandbox        agent.Sandbox
	ApprovalPolicy agent.ApprovalPolicy
	// Exposed says what commands could write, in a sandbox in which they write WorkDir, that
	// they must not: then a message can have that only if it is Sandbox. Empty if nothing.
	Exposed string
}

// longestModel bounds the name of a model.
const longestModel = 128

// readWishes reads what a message asks for beside its text. What it must not have
// counts only if the message is new: what was accepted once is known by its id,
// whatever the settings say by now.
func (e *Engine) readWishes(in *incoming) {
	in.options, in.refused = e.cfg.Bounds.options(in.message.Metadata)
	if in.refused == nil && in.from.isPeer() {
		in.refused = e.cfg.Bounds.plainFolder(in.options.Cwd)
	}
	if in.refused == nil {
		in.notify, in.refused = e.readTarget(in)
	}
}

// inherit has a message ask for what was asked for before, beside what it asks for itself:
// its turn goes on with work that must not have more leave than it had because nobody said
// so.
func (b Bounds) inherit(m *a2a.Message, before ...map[string]any) (agent.Options, error) {
	meta := map[string]any{}
	for _, asked := range append(before, m.Metadata) {
		for _, key := range wishKeys() {
			if value, _ := word(asked, key); value != "" {
				meta[key] = value
			}
		}
	}
	return b.options(meta)
}

// askingFor is the message as if it asked for the options itself: so whoever runs it again,
// after a restart or for a retry, finds them with it.
func askingFor(m *a2a.Message, o agent.Options) *a2a.Message {
	asking := *m
	asking.Metadata = maps.Clone(m.Metadata)
	for key, value := range wishesOf(o) {
		if value != "" {
			asking.SetMeta(key, value)
		}
	}
	return &asking
}

// wishKeys are the keys of a message's metadata that are for its turn.
func wishKeys() []string { return []string{MetaCwd, MetaModel, MetaSandbox, MetaPolicy} }

// wishesOf is how a message asks for options.
func wishesOf(o agent.Options) map[string]any {
	return map[string]any{MetaCwd: o.Cwd, MetaModel: o.Model, MetaSandbox: string(o.Sandbox), MetaPolicy: string(o.ApprovalPolicy)}
}

// options reads the keys of a message's metadata that are for its turn.
func (b Bounds) options(meta map[string]any) (o agent.Options, err error) {
	words := map[string]string{}
	for _, key := range wishKeys() {
		if words[key], err = word(meta, key); err != nil {
			return o, err
		}
	}
	if o.Cwd, err = b.cwd(words[MetaCwd]); err != nil {
		return o, err
	}
	if o.Model = words[MetaModel]; len(o.Model) > longestModel || strings.ContainsFunc(o.Model, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return o, refuse(a2a.ErrInvalidParams, "%s is no name of a model", MetaModel)
	}
	if o.Sandbox, err = b.sandbox(words[MetaSandbox]); err != nil {
		return o, err
	}
	o.ApprovalPolicy, err = b.policy(words[MetaPolicy], o.Sandbox)
	return o, err
}

// word reads a key that holds a text. Nothing, null and no text are the same.
func word(meta map[string]any, key string) (string, error) {
	value, ok := meta[key].(string)
	if !ok && meta[key] != nil {
		return "", refuse(a2a.ErrInvalidParams, "%s in the message's metadata must be a text", key)
	}
	return value, nil
}

// cwd returns the folder that a message asks for, without symlinks in it.
func (b Bounds) cwd(asked string) (string, error) {
	switch {
	case asked == "":
		return "", nil
	case b.WorkDir == "":
		return "", refuse(a2a.ErrInvalidParams, "%s cannot be chosen here; leave it out", MetaCwd)
	case !filepath.IsAbs(asked):
		asked = filepath.Join(b.WorkDir, asked)
	}
	root, err := within.Follow(b.WorkDir)
	if err != nil {
		return "", refuse(a2a.ErrInvalidParams, "%s cannot be chosen: the working directory (RUNTIME_WORKDIR) is not there", MetaCwd)
	}
	// What is not there and what is not ours get one answer: it tells nothing of what lies outside.
	dir, err := within.FollowNamed(asked)
	outside := err != nil || dir != root && !strings.HasPrefix(dir, strings.TrimSuffix(root, "/")+"/")
	if info, err := os.Stat(dir); outside || err != nil || !info.IsDir() {
		return "", refuse(a2a.ErrInvalidParams, "%s %q is no folder under the working directory %s; give one that is, or leave it out",
			MetaCwd, clip(asked, 256), b.WorkDir)
	}
	return dir, nil
}

// unbroken is a path without blanks, line ends and marks.
var unbroken = regexp.MustCompile(`^[\pL\pM\pN._+@/-]*$`)

const longestFolder = 256 // bytes

// plainFolder refuses another agent a folder whose name could be sentences: codex shows the model the
// name as it is, without a mark that it is no word of the user's.
func (b Bounds) plainFolder(dir string) error {
	root, err := within.Follow(b.WorkDir)
	below, inside := strings.CutPrefix(dir, root)
	if dir == "" || err == nil && inside && len(below) <= longestFolder && unbroken.MatchString(below) {
		return nil
	}
	return refuse(a2a.ErrInvalidParams, "%s of another agent's message must be a folder whose name has letters, digits and ._+@- only, and 256 bytes at most; give another one, or leave it out", MetaCwd)
}

// sandboxes in their order: each allows what those before it do.
func sandboxes() []agent.Sandbox {
	return []agent.Sandbox{agent.ReadOnly, agent.WorkspaceWrite, agent.FullAccess}
}

func (b Bounds) sandbox(asked string) (agent.Sandbox, error) {
	if asked == "" {
		return "", nil
	}
	mode, inReach := agent.Sandbox(asked), true
	if b.Exposed != "" && mode == agent.WorkspaceWrite && b.Sandbox == agent.FullAccess {
		return "", refuse(a2a.ErrInvalidParams, "%s %q is not to be had here: %s, which commands must not write in a sandbox; "+
			"ask for read-only, or leave it out", MetaSandbox, asked, b.Exposed)
	}
	for _, m := range sandboxes() {
		if m == mode && inReach && b.Sandbox != "" {
			return mode, nil
		}
		inReach = inReach && m != b.Sandbox
	}
	return "", refuse(a2a.ErrInvalidParams, "%s %q is not to be had here; %s", MetaSandbox, clip(asked, 64), b.sandboxHint())
}

func (b Bounds) sandboxHint() string {
	if b.Sandbox == "" {
		return "leave it out"
	}
	var names []string
	for _, m := range sandboxes() {
		names = append(names, string(m))
		if m == b.Sandbox {
			break
		}
	}
	return "the runtime runs with " + string(b.Sandbox) + " (CODEX_SANDBOX), and a message can have " + strings.Join(names, " or ")
}

// policy checks the approval policy that a message asks for in the sandbox that it
// asks for, or in the operator's.
func (b Bounds) policy(asked string, sandbox agent.Sandbox) (agent.ApprovalPolicy, error) {
	p := agent.ApprovalPolicy(asked)
	if sandbox == "" {
		sandbox = b.Sandbox
	}
	switch {
	case asked == "":
		return "", nil
	case reach(p, sandbox) > 0 && b.ApprovalPolicy != "" && reach(p, sandbox) <= reach(b.ApprovalPolicy, b.Sandbox):
		return p, nil
	case reach(p, sandbox) > 0 && b.ApprovalPolicy == agent.Never:
		return "", refuse(a2a.ErrInvalidParams, "%s %q is not to be had here: the runtime asks nobody (CODEX_APPROVAL_POLICY=never), "+
			"for what is allowed on request runs outside its sandbox; leave it out, or run the runtime with on-request", MetaPolicy, clip(asked, 64))
	}
	return "", refuse(a2a.ErrInvalidParams, "%s %q is not to be had here; the runtime runs with %s (CODEX_APPROVAL_POLICY), "+
		"and a message can only have less than that", MetaPolicy, clip(asked, 64), orElse(string(b.ApprovalPolicy), "no policy of its own"))
}

// reach orders policies by what can come of a turn, from 1; 0 is no policy. What
// its caller allows when codex asks runs outside the sandbox (seen on 0.169.0).
func reach(p agent.ApprovalPolicy, sandbox agent.Sandbox) int {
	switch {
	case p == agent.Never && sandbox != agent.FullAccess:
		return 1 // nothing leaves the sandbox
	case p == agent.Untrusted:
		return 2 // what leaves it, and what runs at all, is asked for
	case p == agent.OnRequest:
		return 3 // what leaves it is asked for, if codex finds that it should
	case p == agent.Never:
		return 4 // anything runs, and nobody is asked
	}
	return 0
}

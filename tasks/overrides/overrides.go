// Package overrides reads what the metadata of a message ask for its turn: a directory, a model,
// a sandbox and an approval policy, within what the operator allows.
package overrides

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
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
	// Labels returns labels of machines that a message asks for as they are compared, or why they are not to be had. Nil lets
	// it ask for none: commands run here.
	Labels func(asked string) (string, error)
}

// longestModel bounds the name of a model.
const longestModel = 128

// Inherit has a message ask for what was asked for before, beside what it asks for itself:
// its turn goes on with work that must not have more leave than it had because nobody said
// so.
func (b Bounds) Inherit(m *a2a.Message, before ...map[string]any) (agent.Options, error) {
	meta := map[string]any{}
	for _, asked := range append(before, m.Metadata) {
		for _, key := range Keys() {
			if value, _ := Word(asked, key); value != "" {
				meta[key] = value
			}
		}
	}
	return b.Read(meta)
}

// Asking is the message as if it asked for the options itself: so whoever runs it again,
// after a restart or for a retry, finds them with it.
func Asking(m *a2a.Message, o agent.Options) *a2a.Message {
	asking := *m
	asking.Metadata = maps.Clone(m.Metadata)
	for key, value := range Of(o) {
		if value != "" {
			asking.SetMeta(key, value)
		}
	}
	return &asking
}

// Keys are the keys of a message's metadata that are for its turn.
func Keys() []string { return []string{keys.Cwd, keys.Model, keys.Sandbox, keys.Policy, keys.Labels} }

// Of is how a message asks for options.
func Of(o agent.Options) map[string]any {
	return map[string]any{keys.Cwd: o.Cwd, keys.Model: o.Model, keys.Sandbox: string(o.Sandbox), keys.Policy: string(o.ApprovalPolicy), keys.Labels: o.Labels}
}

// Read reads the keys of a message's metadata that are for its turn.
func (b Bounds) Read(meta map[string]any) (o agent.Options, err error) {
	words := map[string]string{}
	for _, key := range Keys() {
		if words[key], err = Word(meta, key); err != nil {
			return o, err
		}
	}
	if o.Cwd, err = b.cwd(words[keys.Cwd]); err != nil {
		return o, err
	}
	if o.Model = words[keys.Model]; len(o.Model) > longestModel || strings.ContainsFunc(o.Model, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return o, refusal.New(a2a.ErrInvalidParams, "%s is no name of a model", keys.Model)
	}
	if o.Sandbox, err = b.sandbox(words[keys.Sandbox]); err != nil {
		return o, err
	}
	if o.Labels, err = b.labels(words[keys.Labels]); err != nil {
		return o, err
	}
	o.ApprovalPolicy, err = b.policy(words[keys.Policy], o.Sandbox)
	return o, err
}

// Word reads a key that holds a text. Nothing, null and no text are the same.
func Word(meta map[string]any, key string) (string, error) {
	value, ok := meta[key].(string)
	if !ok && meta[key] != nil {
		return "", refusal.New(a2a.ErrInvalidParams, "%s in the message's metadata must be a text", key)
	}
	return value, nil
}

// cwd returns the folder that a message asks for, without symlinks in it.
func (b Bounds) cwd(asked string) (string, error) {
	switch {
	case asked == "":
		return "", nil
	case b.WorkDir == "":
		return "", refusal.New(a2a.ErrInvalidParams, "%s cannot be chosen here; leave it out", keys.Cwd)
	case !filepath.IsAbs(asked):
		asked = filepath.Join(b.WorkDir, asked)
	}
	root, err := within.Follow(b.WorkDir)
	if err != nil {
		return "", refusal.New(a2a.ErrInvalidParams, "%s cannot be chosen: the working directory (RUNTIME_WORKDIR) is not there", keys.Cwd)
	}
	// What is not there and what is not ours get one answer: it tells nothing of what lies outside.
	dir, err := within.FollowNamed(asked)
	outside := err != nil || dir != root && !strings.HasPrefix(dir, strings.TrimSuffix(root, "/")+"/")
	if info, err := os.Stat(dir); outside || err != nil || !info.IsDir() {
		return "", refusal.New(a2a.ErrInvalidParams, "%s %q is no folder under the working directory %s; give one that is, or leave it out",
			keys.Cwd, brief.Clip(asked, 256), b.WorkDir)
	}
	return dir, nil
}

// labels returns those that a message asks for.
func (b Bounds) labels(asked string) (string, error) {
	switch {
	case asked == "":
		return "", nil
	case b.Labels == nil:
		return "", refusal.New(a2a.ErrInvalidParams, "%s cannot be chosen: commands run on one machine here; leave it out", keys.Labels)
	}
	labels, err := b.Labels(asked)
	if err != nil {
		return "", refusal.New(a2a.ErrInvalidParams, "%s: %v", keys.Labels, err)
	}
	return labels, nil
}

// unbroken is a path without blanks, line ends and marks.
var unbroken = regexp.MustCompile(`^[\pL\pM\pN._+@/-]*$`)

const longestFolder = 256 // bytes

// PlainFolder refuses another agent a folder whose name could be sentences: codex shows the model the
// name as it is, without a mark that it is no word of the user's.
func (b Bounds) PlainFolder(dir string) error {
	root, err := within.Follow(b.WorkDir)
	below, inside := strings.CutPrefix(dir, root)
	if dir == "" || err == nil && inside && len(below) <= longestFolder && unbroken.MatchString(below) {
		return nil
	}
	return refusal.New(a2a.ErrInvalidParams, "%s of another agent's message must be a folder whose name has letters, digits and ._+@- only, and 256 bytes at most; give another one, or leave it out", keys.Cwd)
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
		return "", refusal.New(a2a.ErrInvalidParams, "%s %q is not to be had here: %s, which commands must not write in a sandbox; "+
			"ask for read-only, or leave it out", keys.Sandbox, asked, b.Exposed)
	}
	for _, m := range sandboxes() {
		if m == mode && inReach && b.Sandbox != "" {
			return mode, nil
		}
		inReach = inReach && m != b.Sandbox
	}
	return "", refusal.New(a2a.ErrInvalidParams, "%s %q is not to be had here; %s", keys.Sandbox, brief.Clip(asked, 64), b.sandboxHint())
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
		return "", refusal.New(a2a.ErrInvalidParams, "%s %q is not to be had here: the runtime asks nobody (CODEX_APPROVAL_POLICY=never), "+
			"for what is allowed on request runs outside its sandbox; leave it out, or run the runtime with on-request", keys.Policy, brief.Clip(asked, 64))
	}
	return "", refusal.New(a2a.ErrInvalidParams, "%s %q is not to be had here; the runtime runs with %s (CODEX_APPROVAL_POLICY), "+
		"and a message can only have less than that", keys.Policy, brief.Clip(asked, 64), brief.Or(string(b.ApprovalPolicy), "no policy of its own"))
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

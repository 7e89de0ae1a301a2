package codex

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// What codex does with the instructions of a thread (seen on 0.169.0): those that
// it is started with stand in its history from the first turn on. Those that it is
// resumed with stand there only when it is compacted: then the beginning of the
// history is made anew, of what the thread was loaded with. A thread that is
// resumed without instructions has none from then on, and the additional context
// of earlier turns is gone, too. Additional context stands in the history like a
// message, in front of the turn's own. The same under the same key is left out in the
// turn right after, even if a compaction has dropped it in between.

// contextKey names the instructions in the additional context of a turn, together
// with a number that is never the same twice.
const contextKey = "workspace_instructions_"

// noInstructions is what a thread hears of instructions that are no more.
const noInstructions = "The instructions for this workspace that you were given before no longer hold, and none have taken their place."

// tellTimeout bounds how long the note of what a thread has heard may take.
const tellTimeout = 5 * time.Second

// heard is what the model of a thread knows of the instructions, by their digests.
// The conversation's turn lock guards it.
type heard struct {
	loaded string // those that the thread was loaded with, which a compaction goes back to
	known  string // those that the model has heard last
	kept   string // what the journal has of known
	told   bool   // the turn that runs has them with it
	times  int    // that turns had some with them
}

// instructions returns what threads are to know now, and its digest.
func (d *Driver) instructions() (text, digest string) {
	text = d.cfg.Thread.DeveloperInstructions
	if d.cfg.Instructions != nil {
		text = d.cfg.Instructions()
	}
	if text == "" {
		return "", ""
	}
	sum := sha256.Sum256([]byte(text))
	digest = hex.EncodeToString(sum[:8])
	d.versions.keep(digest, text)
	return text, digest
}

// newThread returns what the thread of c is loaded with in a child, and the digest of its
// instructions.
func (d *Driver) newThread(c *conversation, on *child) (params appserver.ThreadStartParams, digest string) {
	params = d.threadOn(on)
	granted := d.grantOf(c)
	params.ApprovalPolicy, params.Sandbox = appserver.ApprovalPolicy(granted.policy), appserver.SandboxMode(granted.sandbox)
	params.DeveloperInstructions, digest = d.instructions()
	return d.spare(c, on, params), digest
}

// mayCompact reports whether codex may compact before a turn, as it does where that has another model
// than the last, or where the history has nine tenths of what the model reads.
func (c *conversation) mayCompact(params *appserver.TurnStartParams) bool {
	return c.nearlyFull || c.otherThanRan(params)
}

// otherThanRan reports whether a turn has another model than the last, as far as is known.
func (c *conversation) otherThanRan(params *appserver.TurnStartParams) bool {
	return c.ran != cmp.Or(params.Model, c.own.model)
}

// brief has the turn tell its thread what that does not know yet, or may not know any more by then.
func (d *Driver) brief(c *conversation, params *appserver.TurnStartParams) (digest string, tells bool) {
	text, digest := d.instructions()
	known := c.heard.known
	if known != c.heard.loaded && c.mayCompact(params) {
		known = unsure
	}
	if digest == known {
		return digest, false
	}
	value := noInstructions
	if text != "" {
		value = d.versions.change(known, text)
	}
	c.heard.times++
	for key, piece := range pieces(contextKey+strconv.Itoa(c.heard.times), value) {
		addContext(params, key, piece)
	}
	return digest, true
}

func addContext(params *appserver.TurnStartParams, key, value string) {
	if params.AdditionalContext == nil {
		params.AdditionalContext = map[string]appserver.AdditionalContext{}
	}
	params.AdditionalContext[key] = appserver.AdditionalContext{Kind: "application", Value: value}
}

// briefed notes that codex has taken a turn that [Executor.brief] has prepared.
func (d *Driver) briefed(c *conversation, digest string, told bool) {
	c.heard.known, c.heard.told = digest, told
	if !c.heard.told {
		d.keepHeard(c)
	}
}

// endBriefing notes what the thread knows after a turn. One that was cut off may
// have nothing of what it had with it, so that is told again.
func (d *Driver) endBriefing(c *conversation, err error) {
	if err != nil && c.heard.told {
		c.heard.known = c.heard.kept
	}
	c.heard.told = false
	d.keepHeard(c)
}

// A briefing is what the model of a conversation has been told beside its messages, or has yet to be.
type briefing struct {
	fresh   freshness
	strange int32
	known   string
	ran     string
	named   bool
}

func (c *conversation) briefing() briefing {
	return briefing{c.fresh, c.strange.is.Load(), c.heard.known, c.ran, c.named}
}

// uncertain is the briefing of a conversation before a turn of which it is not known what it had with it.
func (c *conversation) uncertain() briefing {
	before := briefing{known: unsure, fresh: c.unread}
	if c.strange.any() {
		before.strange = strangeRetold
	}
	return before
}

// untell has the model be told again what a turn had with it that is taken out of the history.
func (d *Driver) untell(c *conversation, before briefing) {
	c.fresh = cmp.Or(c.fresh, before.fresh)
	c.strange.untold(before.strange)
	c.heard.known, c.heard.told = before.known, false
	d.keepHeard(c)
}

// unsure is known of instructions where it is not sure which the model has: they are told in whole.
const unsure = "?"

// compacted notes that what earlier turns had with them is gone from the thread, as after a
// compaction: it goes back to what it was loaded with. What the turn that runs has with it stands
// behind that, if codex has compacted before it.
func (h *heard) compacted() {
	if h.known = h.loaded; h.told {
		h.known = unsure
	}
	h.told = false
}

// keepHeard writes down what the thread knows. Where that fails the next process
// tells it again.
func (d *Driver) keepHeard(c *conversation) {
	if c.heard.known == c.heard.kept {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.root), tellTimeout)
	defer cancel()
	if err := d.cfg.Journal.RecordInstructions(ctx, c.threadID, c.heard.known); err != nil {
		d.log.Warn("what a thread was told could not be written down", "thread_id", c.threadID, "err", err)
		return
	}
	c.heard.kept = c.heard.known
}

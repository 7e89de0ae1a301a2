package codex

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/told"
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

// tellTimeout bounds how long the note of what a thread has heard may take.
const tellTimeout = 5 * time.Second

// instructions returns what threads are to know now, and its digest.
func (d *Driver) instructions() (text, digest string) {
	if d.cfg.Instructions != nil {
		text = d.cfg.Instructions()
	}
	if text == "" {
		return "", ""
	}
	sum := sha256.Sum256([]byte(text))
	digest = hex.EncodeToString(sum[:8])
	d.versions.Keep(digest, text)
	return text, digest
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
	known := c.heard.Known
	if known != c.heard.Loaded && c.mayCompact(params) {
		known = told.Unsure
	}
	if digest == known {
		return digest, false
	}
	value := told.NoInstructions
	if text != "" {
		value = d.versions.Change(known, text)
	}
	c.heard.Times++
	for key, piece := range told.Pieces(contextKey+strconv.Itoa(c.heard.Times), value) {
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

// briefed notes that codex has taken a turn that [Driver.brief] has prepared.
func (d *Driver) briefed(c *conversation, digest string, tells bool) {
	c.heard.Known, c.heard.Told = digest, tells
	if !c.heard.Told {
		d.keepHeard(c)
	}
}

// endBriefing notes what the thread knows after a turn. One that was cut off may
// have nothing of what it had with it, so that is told again.
func (d *Driver) endBriefing(c *conversation, err error) {
	if err != nil && c.heard.Told {
		c.heard.Known = c.heard.Kept
	}
	c.heard.Told = false
	d.keepHeard(c)
}

// A briefing is what the model of a conversation has been told beside its messages, or has yet to be.
type briefing struct {
	fresh   told.Freshness
	strange int32
	known   string
	ran     string
	named   bool
}

func (c *conversation) briefing() briefing {
	return briefing{c.fresh, c.strange.State(), c.heard.Known, c.ran, c.named}
}

// uncertain is the briefing of a conversation before a turn of which it is not known what it had with it.
func (c *conversation) uncertain() briefing {
	before := briefing{known: told.Unsure, fresh: c.unread}
	if c.strange.Any() {
		before.strange = told.StrangeRetold
	}
	return before
}

// untell has the model be told again what a turn had with it that is taken out of the history.
func (d *Driver) untell(c *conversation, before briefing) {
	c.fresh = cmp.Or(c.fresh, before.fresh)
	c.strange.Untold(before.strange)
	c.heard.Known, c.heard.Told = before.known, false
	d.keepHeard(c)
}

// keepHeard writes down what the thread knows. Where that fails the next process
// tells it again.
func (d *Driver) keepHeard(c *conversation) {
	if c.heard.Known == c.heard.Kept {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.root), tellTimeout)
	defer cancel()
	if err := d.cfg.Journal.RecordInstructions(ctx, c.threadID, c.heard.Known); err != nil {
		d.log.Warn("what a thread was told could not be written down", "thread_id", c.threadID, "err", err)
		return
	}
	c.heard.Kept = c.heard.Known
}

// warn has a turn tell the model what is owed of words that were not sent here.
func (c *conversation) warn(params *appserver.TurnStartParams) {
	if words := c.strange.Words(c.mayCompact(params)); words != "" {
		c.heard.Times++ // codex shows nothing twice under one name
		addContext(params, "unbidden_notice"+strconv.Itoa(c.heard.Times), words)
	}
}

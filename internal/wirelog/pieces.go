package wirelog

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A secret that codex streams comes in pieces, none of which looks like one. So a
// piece of text is held back until its last word has ended, with everything behind
// it, as the order in the file is that of the wire; then the pieces are cleaned as
// one text.
type pieces struct {
	redact func(string) string
	wait   []*line            // in order; the first one is held back, or there is none
	bytes  int                // of them
	open   map[string]*stream // by item
}

// Bounds of what is held back. Past them it goes out, cleaned as it is.
const (
	mostHeld      = 1024
	mostHeldBytes = 1 << 20
	mostWord      = 16 << 10
	contextBytes  = 256 // of the text before, which may say what follows
)

// A stream is the text of an item, as far as it may still be held back.
type stream struct {
	before string // what was written last
	held   []*line
	size   int // of their text
}

// A line is an entry on its way into the file.
type line struct {
	entry
	piece *piece // if it is one
	held  bool
}

// A piece is what is in a delta.
type piece struct {
	item string
	text string
}

// delta is a notification that brings a piece of text.
type delta struct {
	Method string `json:"method"`
	Params struct {
		ItemID string `json:"itemId"`
		Delta  string `json:"delta"`
	} `json:"params"`
}

// pieceOf returns what a message streams; nil if it does not.
func pieceOf(message []byte) *piece {
	if !bytes.Contains(message, []byte(`"delta":"`)) {
		return nil
	}
	var d delta
	if json.Unmarshal(message, &d) != nil || d.Method == "" || d.Params.ItemID == "" {
		return nil
	}
	return &piece{d.Params.ItemID, d.Params.Delta}
}

// add takes a line in and returns those that can be written.
func (p *pieces) add(l *line) []*line {
	if l.piece == nil {
		p.ends(l)
	} else {
		p.hold(l)
	}
	p.wait = append(p.wait, l)
	p.bytes += len(l.text)
	if len(p.wait) > mostHeld || p.bytes > mostHeldBytes {
		return p.all()
	}
	return p.free()
}

// ends lets go of the text of an item, or of all, where a message says that it ended.
func (p *pieces) ends(l *line) {
	if len(p.open) == 0 {
		return
	}
	if l.kind == kindReceive && bytes.Contains(l.text[:min(len(l.text), 64)], []byte(`/delta"`)) {
		return
	}
	for item, s := range p.open {
		if l.event == EventEnd || l.kind != kindEvent && bytes.Contains(l.text, []byte(item)) || l.kind == kindReceive && bytes.Contains(l.text, []byte(`"turn/completed"`)) {
			p.release(s)
			delete(p.open, item)
		}
	}
}

// hold holds a piece back, and lets go of those before it where no word goes on from
// one to the other.
func (p *pieces) hold(l *line) {
	s := p.open[l.piece.item]
	if s == nil {
		s = &stream{}
		p.open[l.piece.item] = s
	}
	text := l.piece.text
	if first, _ := utf8.DecodeRuneInString(text); unicode.IsSpace(first) {
		p.release(s)
	}
	l.held = true
	s.held = append(s.held, l)
	s.size += len(text)
	if last, _ := utf8.DecodeLastRuneInString(text); unicode.IsSpace(last) || s.size > mostWord {
		p.release(s)
	}
}

// release cleans the pieces that are held back as one text and lets go of them.
func (p *pieces) release(s *stream) {
	if len(s.held) == 0 {
		return
	}
	var joined strings.Builder
	for _, l := range s.held {
		joined.WriteString(l.piece.text)
		l.held = false
	}
	text := joined.String()
	if clean := p.redact(s.before + text); clean != s.before+text {
		shown, ok := strings.CutPrefix(clean, p.redact(s.before))
		if !ok {
			shown = mask
		}
		for _, l := range s.held {
			l.show(shown)
			shown = ""
		}
	}
	s.before = tail(s.before+text, contextBytes)
	s.held, s.size = nil, 0
}

// show puts another text into the place of the piece.
func (l *line) show(text string) {
	var message map[string]json.RawMessage
	var params map[string]json.RawMessage
	if json.Unmarshal(l.text, &message) != nil || json.Unmarshal(message["params"], &params) != nil {
		return
	}
	params["delta"] = encode(text)
	message["params"] = encode(params)
	l.text = encode(message)
}

// free returns what need not wait any more.
func (p *pieces) free() []*line {
	n := 0
	for n < len(p.wait) && !p.wait[n].held {
		p.bytes -= len(p.wait[n].text)
		n++
	}
	lines := p.wait[:n:n]
	p.wait = p.wait[n:]
	return lines
}

// all returns everything, cleaned as far as it has come.
func (p *pieces) all() []*line {
	for item, s := range p.open {
		p.release(s)
		delete(p.open, item)
	}
	lines := p.free()
	p.bytes = 0
	return lines
}

// tail is the end of a text, of whole characters.
func tail(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = text[len(text)-most:]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return text
}

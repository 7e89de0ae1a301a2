package main

import (
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/wirelog"
)

// openWire begins the record of what is said to and by codex; nil if there is to be
// none. Closing the application ends it.
func (app *application) openWire(path string) *wirelog.Recorder {
	if path == "" {
		return nil
	}
	recorder := wirelog.Open(wirelog.Config{
		Path: path, Redact: app.redact.String, Logger: app.log,
		Run: wirelog.Run{Runtime: version, Codex: appserver.PinnedVersion()},
	})
	app.log.Warn("everything said to and by codex is recorded, prompts included", "file", path)
	app.closers = append(app.closers, recorder)
	return recorder
}

package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Molecule-AI/molecule-codex-runtime/bridge"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextools"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

// mcp serves MCP over stdio until its client closes it. Standard output is the
// protocol's alone; what there is to say goes to standard error.
func (p *program) mcp(ctx context.Context) int {
	client, ok := p.client()
	if !ok {
		return exitUsage
	}
	defer p.outliveReaders()()
	s, _, err := settings.Load(p.environ) // outside of a workspace others than the client's may be those of another machine
	redact := secrets.Of(s, p.environ)
	log := logging.New(p.stderr, slog.LevelWarn, redact)
	server := mcp.NewServer(&mcp.Implementation{Name: "molecule-codex-runtime", Title: "Codex runtime", Version: version}, &mcp.ServerOptions{
		Logger:       log,
		Capabilities: &mcp.ServerCapabilities{},
	})
	offers := []func(*mcp.Server){func(s *mcp.Server) { bridge.Register(s, client) }}
	if s.InWorkspace() {
		if err != nil {
			return p.fail(err)
		}
		workspace, end := codextools.Alone(s, redact, codextools.Identity(os.Getenv), log)
		defer end()
		offers = append(offers, workspace.Register)
	}
	for _, tools := range offers {
		tools(server)
	}
	err = server.Run(ctx, &mcp.IOTransport{Reader: p.stdin, Writer: writeCloser{p.stdout}})
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, io.EOF) {
		return p.fail(err)
	}
	return exitOK
}

// A writeCloser is a writer that others close.
type writeCloser struct{ io.Writer }

func (writeCloser) Close() error { return nil }

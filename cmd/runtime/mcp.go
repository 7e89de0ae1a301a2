package main

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Molecule-AI/molecule-codex-runtime/bridge"
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
	s, _, _ := settings.Load(p.environ) // what is wrong with them is said below, where it matters
	server := mcp.NewServer(&mcp.Implementation{Name: "molecule-codex-runtime", Title: "Codex runtime", Version: version}, &mcp.ServerOptions{
		Logger:       logging.New(p.stderr, slog.LevelWarn, secrets.Of(s, p.environ)),
		Capabilities: &mcp.ServerCapabilities{},
	})
	offers := []func(*mcp.Server){func(s *mcp.Server) { bridge.Register(s, client) }}
	workspace, end, err := p.workspaceTools()
	if err != nil {
		return p.fail(err)
	}
	defer end()
	if workspace != nil {
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

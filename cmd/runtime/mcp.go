package main

import (
	"context"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Molecule-AI/molecule-codex-runtime/bridge"
)

type mcpFlags struct {
	Inbox string `enum:"auto,keep,beside,turns" default:"auto" placeholder:"HOW" help:"Who has the messages of the workspace. keep: this process, for the MCP host, unless another one keeps them. beside: another process, always. turns: the codex that is the MCP host gets each as a turn. auto: beside where the MCP host is codex, else keep."`
}

// Help implements [kong.HelpProvider].
func (mcpFlags) Help() string {
	return "With WORKSPACE_ID, PLATFORM_URL and MOLECULE_WORKSPACE_TOKEN, or MOLECULE_WORKSPACES, the MCP host is an\n" +
		"agent of the workspace: it waits for messages and answers them by tools. See docs/mcp.md."
}

// mcp serves MCP over stdio until its client closes it. Standard output is the
// protocol's alone; what there is to say goes to standard error.
func (p *program) mcp(ctx context.Context, o mcpFlags) int {
	client, ok := p.client()
	if !ok {
		return exitUsage
	}
	defer p.outliveReaders()()
	work, err := p.mcpWork(o)
	if err != nil {
		return p.fail(err)
	}
	defer work.end()
	server := mcp.NewServer(&mcp.Implementation{Name: "molecule-codex-runtime", Title: "Codex runtime", Version: version}, &mcp.ServerOptions{
		Logger:       work.log,
		Instructions: work.instructions,
		Capabilities: &mcp.ServerCapabilities{},
	})
	bridge.Register(server, client)
	work.register(server)
	defer work.alongside(ctx, server)()
	err = server.Run(ctx, &mcp.IOTransport{Reader: &ending{ReadCloser: p.stdin, ended: work.leave}, Writer: writeCloser{p.stdout}})
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, io.EOF) {
		return p.fail(err)
	}
	return exitOK
}

// An ending reader says when there is no more to read.
type ending struct {
	io.ReadCloser
	ended func()
}

func (r *ending) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil {
		r.ended()
	}
	return n, err
}

// A writeCloser is a writer that others close.
type writeCloser struct{ io.Writer }

func (writeCloser) Close() error { return nil }

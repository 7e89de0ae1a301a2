package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "tcksut:", err)
		os.Exit(1) // nothing is left to stop
	}
}

func run(ctx context.Context, args []string, stderr io.Writer) error {
	opts, addr, err := parse(args, stderr)
	if err != nil {
		return err
	}
	opts.log = slog.New(slog.NewTextHandler(stderr, nil))
	s, err := newSUT(opts)
	if err != nil {
		return err
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	fmt.Fprintf(stderr, "listening on http://%s, card %s\n", ln.Addr(), opts.card)
	return s.serve(ctx, ln)
}

func parse(args []string, stderr io.Writer) (opts options, addr string, err error) {
	flags := flag.NewFlagSet("tcksut", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&addr, "addr", "127.0.0.1:9999", "listen `address`")
	flags.StringVar(&opts.publicURL, "public-url", "", "`URL` in the card; by default what the Host header says, and the 0.3.x suite wants http://0.0.0.0:<port>")
	flags.StringVar(&opts.card, "card", cardV1, "v1, or union for the 0.3.x suite")
	flags.StringVar(&opts.extension, "required-extension", "", "`URI` of an extension that callers must know")
	flags.BoolVar(&opts.mute, "no-streaming", false, "the card does not promise streaming")
	flags.BoolVar(&opts.push, "push", false, "push notifications, which the suite receives on loopback")
	flags.DurationVar(&opts.hold, "hold", 4*time.Second, "how long a task that is subscribed to again works; twice the suite's TCK_STREAMING_TIMEOUT")
	if err := flags.Parse(args); err != nil {
		return opts, addr, err
	}
	if opts.card != cardV1 && opts.card != cardUnion {
		return opts, addr, fmt.Errorf("--card is %q; v1 and union are known", opts.card)
	}
	return opts, addr, nil
}

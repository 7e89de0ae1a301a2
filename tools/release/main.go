package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// A release is what all its archives have in common.
type release struct {
	root    string    // of the source
	out     string    // where the archives go
	version string    // as the program says it
	when    time.Time // the time of every file: that of the commit
	codex   string    // the version that the program is made for
	source  string    // what Go calls the sum of the module's source; "" is none
}

// plain is a version that may stand in commands: the block is one.
var plain = regexp.MustCompile(`^[A-Za-z0-9._+-]+$`)

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	root := flags.String("root", ".", "where the source is")
	out := flags.String("out", "dist", "folder for the archives; what is in it goes")
	version := flags.String("version", "", "version of the release")
	epoch := flags.Int64("epoch", 0, "time of every file, in seconds since 1970: that of the commit")
	targets := flags.String("targets", "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64", "what is built")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if !plain.MatchString(*version) || *epoch == 0 {
		return errors.New("give -version, of letters, digits and ._+-, and -epoch; make release takes them from git")
	}
	r := release{root: *root, version: *version, when: time.Unix(*epoch, 0).UTC()}
	var err error
	if r.out, err = filepath.Abs(*out); err != nil {
		return err
	}
	pin, err := os.ReadFile(filepath.Join(*root, "appserver", "CODEX_VERSION"))
	if err != nil {
		return err
	}
	r.codex = strings.TrimSpace(string(pin))
	if r.source, err = sourceSum(ctx, r.root, r.version); err != nil {
		return fmt.Errorf("the sum of the source: %w", err)
	}
	if err := r.empty(); err != nil {
		return err
	}
	var made []string
	for target := range strings.SplitSeq(*targets, ",") {
		files, err := r.build(ctx, target)
		if err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
		made = append(made, files...)
	}
	if err := r.block(made); err != nil {
		return err
	}
	return r.checksums(append(made, blockFile))
}

// empty makes the folder for the archives. One that holds anything else than a release
// is left alone.
func (r release) empty() error {
	found, err := os.ReadDir(r.out)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, entry := range found {
		if name := entry.Name(); name != sumsFile && name != blockFile && !strings.HasPrefix(name, program+"_") {
			return fmt.Errorf("%s holds %s, which is of no release: give a folder of its own", r.out, name)
		}
	}
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	return os.MkdirAll(r.out, 0o750)
}

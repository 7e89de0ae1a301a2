package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

const rulesFix = "take it away, or have it say prompt or forbidden; what is to be done without a question can be a tool of an MCP server's"

// rulesCheck looks for rules that have commands run outside of codex's sandbox. codex holds the words
// of its own parser against them, which are not those of the shell (seen on 0.169.0).
func rulesCheck(s settings.Settings) preflight.Check {
	return as(s.User, preflight.Check{Name: "rules", Run: func(context.Context) preflight.Result {
		file, err := allowing(filepath.Join(s.CodexHome, "rules"))
		switch {
		case err != nil:
			return preflight.Result{Status: preflight.Warn, Detail: "codex's rules cannot be read: " + err.Error(), Fix: "let its user read CODEX_HOME/rules"}
		case file != "":
			return preflight.Result{
				Status: preflight.Warn, Fix: rulesFix,
				Detail: fmt.Sprintf("a rule in %s allows a command: by it any program gets out of codex's sandbox that a command has written, whatever a message may do", file),
			}
		case s.Rules == "callers":
			return preflight.Result{
				Status: preflight.Warn, Detail: "callers may make rules, by which any program gets out of codex's sandbox that a command has written",
				Fix: "unset CODEX_RULES",
			}
		}
		return preflight.Result{Status: preflight.OK, Detail: "none allows a command"}
	}})
}

// Bounds of the rules that are looked at.
const (
	mostRules     = 100
	mostRuleBytes = 1 << 20
)

// allowing is a file of rules in a folder with one that allows; empty if there is none.
func allowing(dir string) (string, error) {
	names, err := regular.Names(dir, mostRules, func(name string) bool { return filepath.Ext(name) == ".rules" })
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	for _, name := range names {
		text, err := regular.Read(filepath.Join(dir, name), mostRuleBytes)
		if err != nil {
			return "", err
		}
		if allows(string(text)) {
			return filepath.Join(dir, name), nil
		}
	}
	return "", err
}

var (
	remarks       = regexp.MustCompile(`(?m)#.*$`)
	justification = regexp.MustCompile(`\bjustification\s*=\s*("(\\.|[^"\\])*"|'(\\.|[^'\\])*')`)
	decided       = regexp.MustCompile(`\bdecision\s*=\s*["'](prompt|forbidden)["']`)
)

// allows reports whether one of the rules of a text allows, which a rule does that says nothing else.
func allows(text string) bool {
	rules := strings.Split(justification.ReplaceAllString(remarks.ReplaceAllString(text, ""), ""), "prefix_rule")[1:]
	return slices.ContainsFunc(rules, func(rule string) bool { return !decided.MatchString(rule) })
}

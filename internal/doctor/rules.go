package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

const rulesFix = "take it away, or have it say decision=\"prompt\" or \"forbidden\", and nothing but words; what is to be done without a question can be a tool of an MCP server's"

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
				Detail: fmt.Sprintf("a rule in %s allows a command, or is not plain enough to tell: by one that allows, any program gets out of codex's sandbox that a command has written, whatever a message may do", file),
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

// allowing is a file of rules in a folder with one that allows, or may; empty if there is none.
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

// What a rule is written of, if it is plain: codex's language of rules (Starlark) has more, such as
// other names for a function, expressions, and words that hold what looks like a rule.
const (
	ruleSpace = `(?:[ \t\n]|\r\n|#[^\r\n]*)*`
	ruleWord  = `(?:"(?:\\[!-~]|[^"\\\x00-\x1f])*"|'(?:\\[!-~]|[^'\\\x00-\x1f])*')`
)

var (
	ruleBlank    = regexp.MustCompile(`^` + ruleSpace)
	ruleFunction = regexp.MustCompile(`^(prefix_rule|network_rule|host_executable)` + ruleSpace + `\(` + ruleSpace)
	ruleArgument = regexp.MustCompile(`^(\w+)` + ruleSpace + `=` + ruleSpace + ruleValue() + ruleSpace + `(?:,` + ruleSpace + `|(\)))`)
)

// ruleValue is a word, or a list of words and of lists of words.
func ruleValue() string {
	return `(` + ruleWord + `|` + ruleList(`(?:`+ruleWord+`|`+ruleList(ruleWord)+`)`) + `)`
}

// ruleList is a list of what a pattern stands for.
func ruleList(of string) string {
	return `\[` + ruleSpace + `(?:` + of + ruleSpace + `(?:,` + ruleSpace + of + ruleSpace + `)*(?:,` + ruleSpace + `)?)?\]`
}

// allows reports whether one of the rules of a text allows, or is not plain enough to tell. One that
// does not say what it decides allows.
func allows(text string) bool {
	for {
		text = text[len(ruleBlank.FindString(text)):]
		if text == "" {
			return false
		}
		function := ruleFunction.FindStringSubmatch(text)
		if function == nil {
			return true
		}
		decision, rest, plain := decided(text[len(function[0]):])
		if !plain || function[1] == "prefix_rule" && decision != "prompt" && decision != "forbidden" {
			return true
		}
		text = rest
	}
}

// decided reads the arguments of a rule: what it decides, and what comes after them.
func decided(text string) (decision, rest string, plain bool) {
	for !strings.HasPrefix(text, ")") {
		argument := ruleArgument.FindStringSubmatch(text)
		if argument == nil {
			return "", "", false
		}
		if argument[1] == "decision" {
			decision = strings.Trim(argument[2], `"'`)
		}
		text = text[len(argument[0])-len(argument[3]):]
	}
	return decision, text[1:], true
}

package settings

import (
	"fmt"
	"slices"
	"strings"
)

// reserved returns names that belong to the runtime without being rows of the
// table: parts of it that read them themselves or do not exist yet. They are
// known, so that setting them is no mistake.
func reserved() []string {
	return []string{
		"CODEX_CHATGPT_AUTH_JSON", "CODEX_MINIMAX_MODEL", "CODEX_CA_CERTIFICATE",
	}
}

// unknownNames looks for misspelt variables. A RUNTIME_ name close to one of
// ours is an error, because the setting that was meant would silently not be
// in force; one that is far from all is a warning, because it need not be
// meant for us (Kubernetes sets RUNTIME_PORT for a Service called runtime).
// CODEX_ names are codex's as well as ours, so there only near misses are
// worth a warning.
func unknownNames(vars map[string]string, rows []Row) ([]*Problem, []Warning) {
	known := reserved()
	for _, r := range rows {
		known = append(known, r.Name)
	}
	var problems []*Problem
	var warnings []Warning
	for name, value := range vars {
		ours := strings.HasPrefix(name, "RUNTIME_")
		if value == "" || slices.Contains(known, name) || !ours && !strings.HasPrefix(name, "CODEX_") {
			continue
		}
		near := nearest(name, known)
		switch {
		case ours && near != "":
			problems = append(problems, &Problem{
				Name: name, What: name + " is not a setting", Hint: "did you mean " + near + "? Otherwise unset it",
			})
		case ours:
			warnings = append(warnings, Warning{name, name + " is not a setting of the runtime: ignored"})
		case near != "":
			warnings = append(warnings, Warning{name, fmt.Sprintf("%s is not a setting of the runtime: did you mean %s?", name, near)})
		}
	}
	slices.SortFunc(problems, func(a, b *Problem) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(warnings, func(a, b Warning) int { return strings.Compare(a.Name, b.Name) })
	return problems, warnings
}

// nearest returns the known name of the same family closest to name, or ""
// if none is within two edits.
func nearest(name string, known []string) string {
	family, _, _ := strings.Cut(name, "_")
	best, found := 3, ""
	for _, k := range known {
		if !strings.HasPrefix(k, family+"_") {
			continue
		}
		if d := distance(name, k); d < best {
			best, found = d, k
		}
	}
	return found
}

// distance is the number of insertions, deletions, substitutions and swaps of
// neighbours that make b of a.
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

package files

import (
	"mime"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

const longestName = 100

// sanitize makes a name of at most 100 plain characters, which no shell and no file
// system minds. The extension stays.
func sanitize(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, base(name))
	name = strings.TrimLeft(name, ".")
	if name == "" {
		return "file"
	}
	if len(name) <= longestName {
		return name
	}
	ext := filepath.Ext(name)
	if len(ext) > 16 {
		ext = ""
	}
	return name[:longestName-len(ext)] + ext
}

// plainName is the name as its sender gave it, on one line and without folders. What is
// not seen is taken out: it makes a name look like another.
func plainName(name string) string {
	return clip(strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r):
			return ' '
		case unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, base(name))), " "), 255)
}

// base is what stands behind the last slash of either kind.
func base(name string) string { return name[strings.LastIndexAny(name, `/\`)+1:] }

// Secret reports whether a path names what holds secrets of the workspace: its token,
// the platform's inbound secret, codex's login, the state database, the secrets.
func Secret(path string) bool {
	for name := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		switch name = strings.ToLower(name); {
		case name == "secrets.d":
			return true
		case strings.HasPrefix(name, "auth.json"), strings.HasPrefix(name, ".auth_token"), strings.HasPrefix(name, ".platform_inbound_secret"), strings.HasPrefix(name, "state.db"):
			return true
		}
	}
	return false
}

// mediaOf guesses the type of a file by its name.
func mediaOf(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".md":
		return "text/markdown"
	case ".txt", ".log":
		return "text/plain"
	case ".csv":
		return "text/csv"
	case ".zip":
		return "application/zip"
	}
	media, _, err := mime.ParseMediaType(mime.TypeByExtension(filepath.Ext(name)))
	if err != nil {
		return "application/octet-stream"
	}
	return media
}

// clip returns the beginning of s, at most n bytes of it and whole characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

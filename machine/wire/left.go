package wire

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// A Committed is what a commit has come to.
type Committed struct {
	Head string // the commit that the branch stands at
	Left Left
}

// Left are files that a commit has not taken, as they are too large, or cannot be read. What is ignored is none of them.
type Left struct {
	Paths []string `json:"paths"` // the first [MostLeft] of them, shortened
	Count int      `json:"count"` // of all
}

// What is said of files that were left out.
const (
	MostLeft     = 5
	MostLeftPath = 200 // bytes of a path
)

// Text is for a header; it is empty if nothing was left out.
func (l Left) Text() string {
	if l.Count == 0 {
		return ""
	}
	text, err := json.Marshal(l)
	if err != nil { // strings and a number can always be written
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(text)
}

// ParseLeft reads what Text has written. A machine can say what it likes: paths that are too many, or too long, are cut.
func ParseLeft(text string) (l Left, err error) {
	if text == "" {
		return l, nil
	}
	plain, err := base64.StdEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(plain, &l)
	}
	if err != nil {
		return Left{}, fmt.Errorf("what a commit has left out: %w", err)
	}
	l.Paths = l.Paths[:min(len(l.Paths), MostLeft)]
	for i, path := range l.Paths {
		l.Paths[i] = strings.ToValidUTF8(path[:min(len(path), MostLeftPath)], "")
	}
	l.Count = max(l.Count, len(l.Paths))
	return l, nil
}

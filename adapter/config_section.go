package adapter

import (
	"math"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// A section is one mapping of config.yaml. Its methods return what a key holds, or
// the default, and warn about a value that is of another kind.
type section struct {
	file     string
	path     string // in front of the keys in warnings
	values   map[string]*yaml.Node
	warnings *[]Warning
}

func newSection(file string, node *yaml.Node, warnings *[]Warning) section {
	s := section{file: file, values: map[string]*yaml.Node{}, warnings: warnings}
	s.fill(node)
	return s
}

// fill takes the pairs of a mapping. Of two equal keys the last one counts.
func (s section) fill(node *yaml.Node) {
	var merged []*yaml.Node
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := resolved(node.Content[i]), resolved(node.Content[i+1])
		if key.Kind != yaml.ScalarNode {
			continue // none that anybody looks for
		}
		if key.Tag == "!!merge" {
			merged = append(merged, value)
			continue
		}
		if earlier := s.values[key.Value]; earlier != nil {
			s.add(key.Line, s.path+key.Value+" stands twice, first in line "+strconv.Itoa(earlier.Line)+"; this one counts")
		}
		s.values[key.Value] = value
	}
	s.merge(merged, map[*yaml.Node]bool{node: true})
}

// merge takes what the mapping does not say itself from those that it is merged with
// (the key <<): the first of them that says it counts. Each is looked at once, for they
// may be merged with one another, and in a circle.
func (s section) merge(from []*yaml.Node, seen map[*yaml.Node]bool) {
	for _, node := range from {
		node = resolved(node)
		if seen[node] {
			continue
		}
		seen[node] = true
		switch node.Kind {
		case yaml.SequenceNode:
			s.merge(node.Content, seen)
		case yaml.MappingNode:
			var more []*yaml.Node
			for i := 0; i+1 < len(node.Content); i += 2 {
				key, value := resolved(node.Content[i]), resolved(node.Content[i+1])
				switch {
				case key.Tag == "!!merge":
					more = append(more, value)
				case key.Kind == yaml.ScalarNode && s.values[key.Value] == nil:
					s.values[key.Value] = value
				}
			}
			s.merge(more, seen)
		}
	}
}

// resolved is what an alias stands for.
func resolved(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

func (s section) add(line int, text string) {
	*s.warnings = append(*s.warnings, Warning{File: s.file, Line: line, Text: text})
}

func (s section) warn(key, text string) {
	line := 0
	if node := s.values[key]; node != nil {
		line = node.Line
	}
	s.add(line, s.path+key+": "+text)
}

// quiet returns the node of a key; nil if the key is absent or empty.
func (s section) quiet(key string) *yaml.Node {
	node := s.values[key]
	if node == nil || node.Kind == yaml.ScalarNode && node.Tag == "!!null" {
		return nil
	}
	return node
}

// scalar returns a key's text, whatever its type.
func (s section) scalar(key string) (string, bool) {
	node := s.quiet(key)
	if node == nil {
		return "", false
	}
	if node.Kind != yaml.ScalarNode {
		s.warn(key, "one value is wanted here; this is ignored")
		return "", false
	}
	return strings.TrimSpace(node.Value), true
}

func (s section) text(key, fallback string) string {
	if value, ok := s.scalar(key); ok && value != "" {
		return value
	}
	return fallback
}

func (s section) oneOf(key string, values ...string) string {
	given := strings.ToLower(s.text(key, ""))
	for _, v := range values {
		if given == v {
			return v
		}
	}
	if given != "" {
		s.warn(key, "this is none of "+strings.Join(values, ", ")+"; it is ignored")
	}
	return ""
}

func (s section) float(key string) (float64, bool) {
	value, ok := s.scalar(key)
	if !ok || value == "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(value, "_", ""), 64)
	if err != nil || math.IsNaN(n) || math.Abs(n) > 1e9 {
		s.warn(key, "a number is wanted here; the default is used")
		return 0, false
	}
	return n, true
}

func (s section) number(key string, fallback int) int {
	if n, ok := s.float(key); ok {
		return int(n)
	}
	return fallback
}

func (s section) seconds(key string, fallback time.Duration) time.Duration {
	n, ok := s.float(key)
	if !ok {
		return fallback
	}
	if n < 0 {
		s.warn(key, "seconds are not less than 0; the default is used")
		return fallback
	}
	return seconds(n)
}

func (s section) yes(key string, fallback bool) bool {
	value, ok := s.scalar(key)
	if !ok {
		return fallback
	}
	switch strings.ToLower(value) {
	case "true", "yes", "on", "1":
		return true
	case "false", "no", "off", "0":
		return false
	}
	s.warn(key, "true or false is wanted here; the default is used")
	return fallback
}

// list returns a list of texts. One text alone is a list of one; an entry that is
// a mapping is known by its name, id or path.
func (s section) list(key string) []string {
	node := s.quiet(key)
	switch {
	case node == nil:
		return nil
	case node.Kind == yaml.ScalarNode:
		return []string{node.Value}
	case node.Kind != yaml.SequenceNode:
		s.warn(key, "a list is wanted here; this is ignored")
		return nil
	}
	var out []string
	for _, item := range node.Content {
		if item.Kind == yaml.AliasNode {
			item = item.Alias
		}
		text := item.Value
		if item.Kind == yaml.MappingNode {
			inner := section{file: s.file, values: map[string]*yaml.Node{}, warnings: new([]Warning)}
			inner.fill(item)
			text = inner.text("name", inner.text("id", inner.text("path", "")))
		}
		if text == "" {
			s.add(item.Line, s.path+key+": an entry that is no text is ignored")
			continue
		}
		out = append(out, text)
	}
	return out
}

// section returns the mapping of a key; an empty one if there is none.
func (s section) section(key string) section {
	inner := section{file: s.file, path: s.path + key + ".", values: map[string]*yaml.Node{}, warnings: s.warnings}
	switch node := s.quiet(key); {
	case node == nil:
	case node.Kind != yaml.MappingNode:
		s.warn(key, "keys and values are wanted here; this is ignored")
	default:
		inner.fill(node)
	}
	return inner
}

// any returns a mapping as it is.
func (s section) any(key string) map[string]any {
	node := s.quiet(key)
	if node == nil {
		return nil
	}
	var out map[string]any
	if node.Kind != yaml.MappingNode || node.Decode(&out) != nil {
		s.warn(key, "keys and values are wanted here; this is ignored")
		return nil
	}
	return out
}

package appserver

import "bytes"

// An envelope holds what routing needs of a message, as slices of its line.
// It is found without decoding the message: a delta passes through here in
// about a tenth of a microsecond, and is decoded once, by whoever shows it.
type envelope struct {
	method   []byte // without quotes
	id       []byte // raw, so that it can be echoed as it came
	params   []byte
	threadID []byte // params.threadId, without quotes
	result   []byte
	err      []byte // the error object of a refusal
	trace    []byte // what a call is part of
}

// scanEnvelope finds the parts of a message. It checks the structure only as
// far as it must to find them; ok is false for a line that is no JSON object.
// What was found before the fault is there also when ok is false.
func scanEnvelope(line []byte) (e envelope, ok bool) {
	i, ok := scanObject(line, 0, func(key []byte, start int) int {
		if string(key) == "params" {
			params, end := scanParams(line, start, &e)
			e.params = params
			return end
		}
		end := skipValue(line, start)
		if end < 0 {
			return end
		}
		value := line[start:end]
		switch string(key) {
		case "method":
			e.method = unquote(value)
		case "id":
			e.id = value
		case "result":
			e.result = value
		case "error":
			e.err = value
		case "trace":
			e.trace = value
		}
		return end
	})
	return e, ok && skipSpace(line, i) == len(line)
}

// scanParams finds the thread that params belong to.
func scanParams(b []byte, start int, e *envelope) (params []byte, end int) {
	if start >= len(b) || b[start] != '{' {
		if end = skipValue(b, start); end < 0 {
			return nil, end
		}
		return b[start:end], end
	}
	end, ok := scanObject(b, start, func(key []byte, at int) int {
		end := skipValue(b, at)
		if end > 0 && string(key) == "threadId" {
			e.threadID = unquote(b[at:end])
		}
		return end
	})
	if !ok {
		return nil, -1
	}
	return b[start:end], end
}

// scanPath returns the string that stands under the given keys, or nil.
func scanPath(b []byte, keys ...string) (found []byte) {
	for depth, want := range keys {
		var value []byte
		scanObject(b, 0, func(key []byte, at int) int {
			end := skipValue(b, at)
			if end > 0 && string(key) == want {
				value = b[at:end]
			}
			return end
		})
		if b = value; depth == len(keys)-1 {
			found = unquote(value)
		}
	}
	return found
}

// scanObject calls member with each key of the object at b[i:] and the
// beginning of its value; member returns the value's end, or -1 to stop.
func scanObject(b []byte, i int, member func(key []byte, value int) (end int)) (end int, ok bool) {
	if i = skipSpace(b, i); i >= len(b) || b[i] != '{' {
		return i, false
	}
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		return i + 1, true
	}
	for i < len(b) && b[i] == '"' {
		keyEnd := skipString(b, i)
		if keyEnd < 0 {
			return i, false
		}
		key := b[i+1 : keyEnd-1]
		if i = skipSpace(b, keyEnd); i >= len(b) || b[i] != ':' {
			return i, false
		}
		if i = member(key, skipSpace(b, i+1)); i < 0 {
			return len(b), false
		}
		if i = skipSpace(b, i); i >= len(b) {
			return i, false
		}
		if b[i] == '}' {
			return i + 1, true
		}
		if b[i] != ',' {
			return i, false
		}
		i = skipSpace(b, i+1)
	}
	return i, false
}

// skipValue returns the end of the value at b[i:], or -1.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	start := i
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] > ' ' {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

func skipNested(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = skipString(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// skipString returns the end of the string whose opening quote is b[i], or -1.
func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		escapes := 0
		for b[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
		}
	}
	return -1
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// unquote returns the inside of a JSON string, or nil for another value. Ids
// and methods hold nothing that would have to be escaped.
func unquote(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return nil
	}
	return value[1 : len(value)-1]
}

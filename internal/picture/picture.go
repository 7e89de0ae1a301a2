// Package picture tells how large a picture is unfolded, by what stands in front of it,
// without unfolding it: a file of some hundred kilobytes can be a gigabyte of pixels.
//
// It reads the formats that codex reads, by their content, as codex does, and is strict:
// what is put together in an unusual way is unreadable here, so that no decoder finds
// another size in it than this package did.
package picture

import (
	"errors"
	"io"
)

// ErrUnreadable says that something is no picture of a kind that codex reads, or is put
// together in a way that leaves its size in doubt.
var ErrUnreadable = errors.New("it cannot be read as PNG, JPEG, GIF or WebP")

// Pixels returns how many pixels a decoder makes room for. Those of 16 bits in each
// channel take twice the room, and count so.
func Pixels(r io.ReaderAt) (int64, error) {
	var magic [12]byte
	if err := fill(r, 0, magic[:]); err != nil {
		return 0, err
	}
	switch {
	case string(magic[:8]) == "\x89PNG\r\n\x1a\n":
		return png(r)
	case string(magic[:3]) == "\xff\xd8\xff":
		return jpeg(r)
	case string(magic[:6]) == "GIF87a", string(magic[:6]) == "GIF89a":
		return gif(r)
	case string(magic[:4]) == "RIFF" && string(magic[8:]) == "WEBP":
		return webp(r)
	}
	return 0, ErrUnreadable
}

// fill reads all of b from a place.
func fill(r io.ReaderAt, at int64, b []byte) error {
	n, err := r.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case err == nil, errors.Is(err, io.EOF):
		return ErrUnreadable
	}
	return err
}

// area returns the pixels of a picture, which has some.
func area(width, height int64) (int64, error) {
	if width <= 0 || height <= 0 {
		return 0, ErrUnreadable
	}
	return width * height, nil
}

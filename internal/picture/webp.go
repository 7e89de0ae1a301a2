package picture

import (
	"encoding/binary"
	"io"
)

// mostChunks bounds the chunks of a WebP: one for each frame, and a few.
const mostChunks = 10_000

// webp reads all chunks: the canvas says how large a picture is, and so does each stream of
// pixels in it for itself.
func webp(r io.ReaderAt) (largest int64, err error) {
	at := int64(12)
	for range mostChunks {
		var b [8]byte
		if n, err := r.ReadAt(b[:], at); n == 0 && err == io.EOF {
			break
		}
		if err := fill(r, at, b[:]); err != nil {
			return cut(largest, err)
		}
		pixels, err := chunk(r, string(b[:4]), at+8)
		if err != nil {
			return 0, err
		}
		largest = max(largest, pixels)
		size := int64(binary.LittleEndian.Uint32(b[4:]))
		at += 8 + size + size&1
	}
	if largest == 0 {
		return 0, ErrUnreadable
	}
	return largest, nil
}

// cut says what is to be made of a file that ends within a chunk's header: what follows
// the picture need not be one.
func cut(largest int64, err error) (int64, error) {
	if largest == 0 {
		return 0, err
	}
	return largest, nil
}

// chunk returns the pixels that a chunk speaks of; 0 if of none.
func chunk(r io.ReaderAt, kind string, at int64) (int64, error) {
	switch kind {
	case "VP8X":
		return canvas(r, at+4)
	case "ANMF": // a frame: its place, its size, and chunks of its own
		pixels, err := canvas(r, at+6)
		if err != nil {
			return 0, err
		}
		inner, err := frame(r, at+16)
		return max(pixels, inner), err
	case "VP8 ":
		return lossy(r, at)
	case "VP8L":
		return lossless(r, at)
	}
	return 0, nil
}

// frame returns the pixels of the stream in a frame: it may stand behind one for alpha.
func frame(r io.ReaderAt, at int64) (int64, error) {
	for range 2 {
		var b [8]byte
		if err := fill(r, at, b[:]); err != nil {
			return 0, err
		}
		kind, size := string(b[:4]), int64(binary.LittleEndian.Uint32(b[4:]))
		if kind != "ALPH" {
			if kind != "VP8 " && kind != "VP8L" {
				return 0, ErrUnreadable
			}
			return chunk(r, kind, at+8)
		}
		at += 8 + size + size&1
	}
	return 0, ErrUnreadable
}

// canvas reads a width and a height of 24 bits each, less one.
func canvas(r io.ReaderAt, at int64) (int64, error) {
	var b [6]byte
	if err := fill(r, at, b[:]); err != nil {
		return 0, err
	}
	of := func(b []byte) int64 { return int64(b[0]) | int64(b[1])<<8 | int64(b[2])<<16 }
	return area(of(b[:3])+1, of(b[3:])+1)
}

// lossy reads the header of a key frame of VP8.
func lossy(r io.ReaderAt, at int64) (int64, error) {
	var b [10]byte
	if err := fill(r, at, b[:]); err != nil {
		return 0, err
	}
	if b[0]&1 != 0 || string(b[3:6]) != "\x9d\x01\x2a" {
		return 0, ErrUnreadable
	}
	return area(int64(binary.LittleEndian.Uint16(b[6:])&0x3fff), int64(binary.LittleEndian.Uint16(b[8:])&0x3fff))
}

// lossless reads the header of VP8L.
func lossless(r io.ReaderAt, at int64) (int64, error) {
	var b [5]byte
	if err := fill(r, at, b[:]); err != nil {
		return 0, err
	}
	if b[0] != 0x2f {
		return 0, ErrUnreadable
	}
	bits := binary.LittleEndian.Uint32(b[1:])
	return area(int64(bits&0x3fff)+1, int64(bits>>14&0x3fff)+1)
}

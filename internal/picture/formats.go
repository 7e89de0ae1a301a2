package picture

import (
	"bufio"
	"encoding/binary"
	"io"
)

// png reads the first chunk, which says it all; frames of an animation are no larger.
func png(r io.ReaderAt) (int64, error) {
	var b [18]byte
	if err := fill(r, 8, b[:]); err != nil {
		return 0, err
	}
	width, height, depth := binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(b[12:]), b[16]
	if string(b[:8]) != "\x00\x00\x00\rIHDR" || width > 1<<31-1 || height > 1<<31-1 {
		return 0, ErrUnreadable
	}
	pixels, err := area(int64(width), int64(height))
	if depth == 16 && pixels < 1<<61 {
		pixels *= 2
	}
	return pixels, err
}

// mostSegments bounds the segments in front of a JPEG's first scan. A profile of colors,
// previews and what cameras note down take some hundred.
const mostSegments = 2000

// jpeg reads the segments up to the first scan. The largest frame counts: there should be
// one.
func jpeg(r io.ReaderAt) (largest int64, err error) {
	at := int64(2)
	for range mostSegments {
		var b [9]byte
		if err := fill(r, at, b[:4]); err != nil {
			return 0, err
		}
		marker := b[1]
		switch {
		case b[0] == 0xff && marker == 0xff: // it fills
			at++
			continue
		case b[0] != 0xff || !hasLength(marker):
			return 0, ErrUnreadable
		case marker == startOfScan:
			if largest == 0 {
				err = ErrUnreadable
			}
			return largest, err
		case isFrame(marker):
			if err := fill(r, at, b[:]); err != nil {
				return 0, err
			}
			pixels, err := area(int64(binary.BigEndian.Uint16(b[7:])), int64(binary.BigEndian.Uint16(b[5:])))
			if err != nil {
				return 0, err
			}
			largest = max(largest, pixels)
		}
		at += 2 + max(int64(binary.BigEndian.Uint16(b[2:])), 2)
	}
	return 0, ErrUnreadable
}

const startOfScan = 0xda

// isFrame reports whether a segment of a JPEG begins a frame (SOF0 to SOF15).
func isFrame(marker byte) bool {
	return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc
}

// hasLength reports whether a segment that may stand in front of a scan begins so: frames,
// tables, the scan, notes of programs and comments.
func hasLength(marker byte) bool {
	return marker >= 0xc0 && marker <= 0xcf && marker != 0xc8 || marker >= 0xda && marker <= 0xdd || marker >= 0xe0 && marker <= 0xef || marker == 0xfe
}

// mostGIF bounds what is read of a GIF in front of its first frame.
const mostGIF = 1 << 20

// gif reads up to the first frame, which is the one that codex takes: room is made for the
// screen and for the frame, if that is another.
func gif(r io.ReaderAt) (int64, error) {
	in := bufio.NewReader(io.NewSectionReader(r, 6, mostGIF))
	var b [7]byte
	if _, err := io.ReadFull(in, b[:]); err != nil {
		return 0, ErrUnreadable
	}
	screen := [4]byte(b[:4])
	pixels, err := areaLittle(screen)
	if err != nil {
		return 0, err
	}
	if err := skip(in, colors(b[4])); err != nil {
		return 0, err
	}
	frame, err := firstFrame(in)
	if err != nil {
		return 0, err
	}
	if frame == screen {
		return pixels, nil
	}
	more, err := areaLittle(frame)
	if err != nil {
		return 0, err
	}
	return pixels + more, nil
}

// areaLittle is the area of a width and a height of 16 bits each.
func areaLittle(b [4]byte) (int64, error) {
	return area(int64(binary.LittleEndian.Uint16(b[:2])), int64(binary.LittleEndian.Uint16(b[2:])))
}

// colors is the size of the table of colors that flags speak of.
func colors(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// firstFrame returns width and height of a GIF's first frame.
func firstFrame(in *bufio.Reader) (size [4]byte, err error) {
	for {
		var b [9]byte
		kind, err := in.ReadByte()
		switch {
		case err != nil:
			return size, ErrUnreadable
		case kind == 0x2c:
			if _, err := io.ReadFull(in, b[:]); err != nil {
				return size, ErrUnreadable
			}
			return [4]byte(b[4:8]), nil
		case kind != 0x21:
			return size, ErrUnreadable
		}
		if err := skipExtension(in); err != nil {
			return size, err
		}
	}
}

// skipExtension skips an extension of a GIF: its label, and its blocks.
func skipExtension(in *bufio.Reader) error {
	if err := skip(in, 1); err != nil {
		return err
	}
	for {
		n, err := in.ReadByte()
		if err != nil {
			return ErrUnreadable
		}
		if n == 0 {
			return nil
		}
		if err := skip(in, int(n)); err != nil {
			return err
		}
	}
}

func skip(in *bufio.Reader, n int) error {
	if _, err := in.Discard(n); err != nil {
		return ErrUnreadable
	}
	return nil
}

package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"os"
)

// An entry is a file of an archive.
type entry struct {
	name string
	from string
	mode int64
}

// pack writes an archive whose bytes depend on the contents of its files alone: no
// owner, no time but the commit's, and the order that is given.
func (r release) pack(path string, files []entry) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	zipped, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(zipped)
	for _, f := range files {
		if err := r.add(archive, f); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), zipped.Close())
}

func (r release) add(archive *tar.Writer, f entry) error {
	content, err := os.ReadFile(f.from)
	if err != nil {
		return err
	}
	err = archive.WriteHeader(&tar.Header{
		Format: tar.FormatUSTAR, Typeflag: tar.TypeReg, ModTime: r.when,
		Name: program + "/" + f.name, Mode: f.mode, Size: int64(len(content)),
	})
	if err != nil {
		return err
	}
	_, err = archive.Write(content)
	return err
}

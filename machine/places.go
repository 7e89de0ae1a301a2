package machine

import (
	"io"
	"net/http"
	"strconv"

	"github.com/Molecule-AI/molecule-codex-runtime/machine/places"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/tenancy"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// mostBundle is how large a bundle may be that is taken in.
const mostBundle = 4 << 30

func (f *front) openPlace(w http.ResponseWriter, r *http.Request, stay *tenancy.Stay) error {
	var want wire.Want
	if err := read(w, r, &want); err != nil {
		return err
	}
	place, err := f.places.Open(r.Context(), stay.Runtime(), r.PathValue("place"), want)
	if err != nil {
		return err
	}
	answer(w, http.StatusOK, place)
	return nil
}

func (f *front) removePlace(w http.ResponseWriter, r *http.Request, stay *tenancy.Stay) error {
	if err := f.places.Remove(r.Context(), stay.Runtime(), r.PathValue("place")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (f *front) absorb(w http.ResponseWriter, r *http.Request, stay *tenancy.Stay) error {
	bundle := http.MaxBytesReader(w, io.NopCloser(lasting{w, r}), mostBundle)
	place, err := f.places.Absorb(r.Context(), stay.Runtime(), r.PathValue("place"), r.Header.Get(wire.HeaderHead), bundle)
	if err != nil {
		return err
	}
	answer(w, http.StatusOK, place)
	return nil
}

func (f *front) commit(w http.ResponseWriter, r *http.Request, stay *tenancy.Stay) error {
	var what wire.Commit
	if err := read(w, r, &what); err != nil {
		return err
	}
	bundle, done, err := f.places.Commit(r.Context(), stay.Runtime(), r.PathValue("place"), what)
	if err != nil {
		return err
	}
	w.Header().Set(wire.HeaderHead, done.Head)
	if left := done.Left.Text(); left != "" {
		w.Header().Set(wire.HeaderLeft, left)
	}
	if bundle == nil {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	defer bundle.Close()
	w.Header().Set("Content-Type", "application/x-git-bundle")
	entire(io.Copy(lastingAnswer{w}, bundle))
	return nil
}

func (f *front) readFile(w http.ResponseWriter, r *http.Request, stay *tenancy.Stay) error {
	file, size, err := f.places.Read(stay.Runtime(), r.PathValue("place"), r.URL.Query().Get("path"))
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	w.Header().Set("Last-Modified", info.ModTime().UTC().Format(http.TimeFormat))
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	entire(io.CopyN(lastingAnswer{w}, file, size))
	return nil
}

func (f *front) writeFile(w http.ResponseWriter, r *http.Request, stay *tenancy.Stay) error {
	text := http.MaxBytesReader(w, io.NopCloser(lasting{w, r}), places.MostFile)
	if err := f.places.Write(stay.Runtime(), r.PathValue("place"), r.URL.Query().Get("path"), text); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// entire has an answer that could not be written to its end be seen to have none.
func entire(_ int64, err error) {
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

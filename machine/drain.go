package machine

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/whole"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/tenancy"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// A drain is whether a machine takes new turns, which outlives the process.
type drain struct {
	file    string // that is there while it drains
	tenants *tenancy.Tenants
}

func openDrain(dir string, tenants *tenancy.Tenants) *drain {
	d := &drain{file: filepath.Join(dir, "draining"), tenants: tenants}
	_, err := os.Lstat(d.file)
	tenants.Drain(err == nil)
	return d
}

// set is what a runtime says. It is kept first.
func (d *drain) set(draining bool) (err error) {
	if draining {
		err = whole.Write(d.file, nil, 0o600)
	} else if err = os.Remove(d.file); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		d.tenants.Drain(draining)
	}
	return err
}

func (f *front) readDrain(w http.ResponseWriter, _ *http.Request, _ *tenancy.Stay) error {
	answer(w, http.StatusOK, wire.Drain{Draining: f.tenants.Draining()})
	return nil
}

func (f *front) writeDrain(w http.ResponseWriter, r *http.Request, stay *tenancy.Stay) error {
	var want wire.Drain
	if err := read(w, r, &want); err != nil {
		return err
	}
	if err := f.drain.set(want.Draining); err != nil {
		return err
	}
	f.log.Info("a runtime says whether this machine takes new turns", "runtime_id", stay.Runtime(), "draining", want.Draining)
	return f.readDrain(w, r, stay)
}

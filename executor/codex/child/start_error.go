package child

// A StartError reports that the child could not be started, whichever way it
// failed in.
type StartError struct{ error }

func (e StartError) Unwrap() error { return e.error }

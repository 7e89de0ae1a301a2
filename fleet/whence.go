package fleet

// whence is the machine that a conversation has its files on, by what is recorded, if that is another one than a machine of
// which it has a place now. A placement that came to nothing has moved no files.
func (f *Fleet) whence(conversation, name string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if from := f.recorded[conversation]; from != name {
		return from
	}
	return ""
}

// tells returns what the model is to be told of a conversation's files: the news, or else what was news before a turn that did
// not begin.
func (f *Fleet) tells(conversation, news string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if news != "" {
		f.untold[conversation] = news
	}
	return f.untold[conversation]
}

// told notes that a turn has begun, whose model is told that.
func (f *Fleet) told(conversation string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.untold, conversation)
}

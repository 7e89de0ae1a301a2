package push

// A share divides something among senders. One has at most half of it, and all peers
// together three quarters: a peer can call itself by any number of names.
type share struct {
	most, ofOne, ofPeers int

	all, peers int
	of         map[Sender]int
}

func newShare(most int) *share {
	return &share{most: most, ofOne: most / 2, ofPeers: most * 3 / 4, of: map[Sender]int{}}
}

// room reports whether a sender may have n more.
func (s *share) room(of Sender, n int) bool {
	return s.all <= s.most-n && s.of[of] <= s.ofOne-n && (!of.Peer || s.peers <= s.ofPeers-n)
}

// count counts n more for a sender, or fewer.
func (s *share) count(of Sender, n int) {
	s.all += n
	if of.Peer {
		s.peers += n
	}
	if s.of[of] += n; s.of[of] == 0 {
		delete(s.of, of)
	}
}

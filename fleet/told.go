package fleet

// aboutGit is for the model of a conversation whose folder was made just now. codex's sandbox lets commands write in the folder
// alone, and git's own files of it are elsewhere (seen on 0.169.0).
const aboutGit = "The folder is a worktree of git. In the sandbox git only reads here, and git add or git commit fail: what is changed in the folder is committed by the runtime at the end of each turn."

// Hint implements [place.Place].
func (p *placed) Hint() string {
	if p.f.files.isFresh(p.conversation) {
		return aboutGit
	}
	return ""
}

// Package worktree keeps the files of conversations in git: a bare repository, a branch for each conversation, and a
// folder (a tree) where one works. Branches go from one repository to another as bundles, so that a conversation can go on on
// another machine.
//
// # Git is a program here
//
// Everything is done by the git command, 2.39 or newer, and by its plumbing, whose output is made to be read. The
// image has it for the agent in any case. The libraries for Go do less than what is needed here: none of them has linked working
// trees together with bundles, checks of what comes in, and git's own rules of what is ignored.
//
// # Nothing in a tree is believed
//
// The commands of a model write all that is in a tree, and in some configurations all that their user may write, so the
// repository as well. Git has many ways to be told to run something, and is kept from them:
//
//   - It has the environment of this package and nothing of ours, no system and no global settings, and no terminal.
//   - Its repository and its tree are named to it. What stands in the tree as .git is never read.
//   - The settings that have it run programs are given with each command, above those of files; and the files of the
//     repository that could define filters and the like (config, info/attributes, info/exclude, HEAD) are compared before
//     each command with what they have to be, and put back.
//   - No file is led through a filter, as info/attributes says for all of them, nor through a conversion of its encoding.
//   - It starts no git in submodules or nested repositories, and looks into their settings as little. Git's "add" and "status"
//     are not used for that reason.
//   - It speaks no protocol but in [Repository.Import], and there the one that was asked for.
//   - What comes in is held to the rules of git fsck before it is part of the repository.
//
// Git runs as the user that the commands run as, where that is another one than ours. The names of branches and commits are
// checked before git sees them. A tree must not be written by commands while it is [Tree.Reset]: git follows what it
// finds on the way to a file.
//
// # What a commit has
//
// What a person would get by "git add -A && git commit" in the tree, with these differences:
//
//   - A folder with a repository of its own (a model has cloned something, or called git init) is taken as the files that are in it;
//     git would take a reference to a commit that only that repository has. Its .git is not taken.
//   - Submodules that .gitmodules names stay references.
//   - Files of Git LFS are what they are in the folder: pointers, or what a command has put in their place.
//   - Line ends are converted where .gitattributes says so; encodings are not.
//   - Files that are too large, or cannot be read, are an error, or left out ([Change.Partly]).
//
// # What is left of a kill
//
// A branch and its tree are changed under a lock on a file (flock) that every git inherits which works on them. After a
// kill of ours the next process waits until those have ended. Then a lock file of git's in that place is of a git
// that was killed, or one that a command of the model has started: it is removed if it is older than two seconds and
// no process has it open. What comes in is put into a folder of its own until it is checked, which is removed when
// the repository is opened again. A reset that was cut off is finished by the next [Repository.Add], and no commit
// is made before.
package worktree

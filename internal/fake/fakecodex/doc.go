// Package fakecodex is a codex app-server that misbehaves on demand, for tests.
// The test binary itself is the child: its TestMain calls [Child] first, and
// the test starts [Command].
//
//	func TestMain(m *testing.M) {
//		fakecodex.Child()
//		leaktest.Main(m)
//	}
//
//	bin, env := fakecodex.Command("state /dir; turn die 3")
//
// Left alone it is a small but correct app-server: initialize, thread/start,
// resume, unsubscribe, archive and unarchive, turn/start, steer and interrupt, thread/turns/list,
// background terminals, account/read. A turn streams its text back in deltas
// and completes; a turn/start on a busy thread is folded into the running turn,
// as codex does it.
//
// # Scripts
//
// A script is a list of steps, separated by semicolons. Those that concern the
// whole run:
//
//	state DIR             keep threads in DIR, so that the next run can resume them
//	no-rollout            say that rollout files are where they are not
//	once                  with state: only the first run in DIR misbehaves
//	exit CODE             end at once, with words on stderr
//	no-answer METHOD      never answer calls of METHOD
//	unanswered METHOD     carry calls of METHOD out without answering them
//	lose-steers           acknowledge turn/steer, and let go of the message
//	refuse METHOD TEXT…   refuse calls of METHOD with -32600 and TEXT
//	refuse-first M TEXT…  refuse the first call of method M only
//	slow METHOD MS        answer calls of METHOD late, and out of order
//	long METHOD BYTES     answer calls of METHOD with a result of BYTES
//	string-answers        answer with the call's id as a string
//	ids KIND              number requests to the client as KIND: string or negative
//	noise                 print lines that are no messages among the others
//	ignore-end            ignore the end of stdin
//	slow-end MS           at the end of stdin close stdout, and end MS later
//	ignore-term           ignore SIGTERM
//	turn ACTION …         what every turn does whose text names no action
//
// # Actions of a turn
//
// CODE is what it ends with; 137 is SIGKILL, as by the kernel where memory is short.
//
// The text of a turn may name its action: "!die 3".
//
//	echo                  the default: the text comes back
//	slow-text MS          the text comes back, a word each MS
//	die CODE              end in mid-turn, after a first delta, with words on stderr
//	die-tool CODE         likewise, after a command was started
//	die-quiet-tool CODE   likewise, but only the rollout file shows that it was
//	die-message CODE      end in mid-turn, after a whole message
//	die-early CODE        after the answer of turn/start; nothing is in the history
//	die-both              likewise, by SIGKILL, with the process that has started it: all of a container
//	die-before CODE       before the answer of turn/start; nothing is in the history
//	die-done CODE         with the turn completed in the history, but not on stdout
//	die-tool-done CODE    likewise, after a command
//	orphan CODE WHERE MS  stop reading and die after MS while a grandchild holds stdin and stdout; WHERE it
//	                      is: in a session of its own, or in the group. Its number is on stderr: "holder 1234"
//	mute                  close stdout and live on
//	deaf                  stop reading stdin
//	hang                  say nothing until interrupted
//	hold                  say nothing until steered or interrupted, then the text
//	hold-done CODE        likewise, and end with the turn completed in the history, but not on stdout
//	until FILE            say nothing until there is a FILE or it is interrupted, then what stands in it
//	pass-over             a message, then nothing until steered; and the turn completes with what it was steered by
//	pass-over-done CODE   likewise, and end with the turn completed in the history, but not on stdout
//	die-steered-tool CODE like hold, but end then, in mid-turn, while a command runs
//	stubborn              say nothing, interrupted or not
//	lose-completed        everything but turn/completed and thread/status/changed{idle}
//	lose-completed-idle   everything but turn/completed
//	lose-completed-chatty likewise, and a command of an earlier turn goes on talking
//	hang-fail KIND TEXT…  say nothing until interrupted, and fail then
//	hang-lose-end         say nothing until interrupted; then everything but turn/completed
//	abort-lose-end        likewise, interrupted by itself and at once
//	no-start-answer       the turn runs, but turn/start is not answered
//	begin-late MS HANG    the text comes back, or, with "hang", nothing until interrupted; before MS the thread
//	                      is idle, the turn reads interrupted, and there is nothing to interrupt
//	tool MS               a command of MS, then the text
//	terminal              a command that stays behind as a background terminal, then the text
//	hang-terminal         a command that runs until the turn is interrupted, and survives that
//	flood N M             N deltas of M bytes
//	line BYTES            a command whose output is one line of BYTES
//	fail CODE TEXT…       the turn fails
//	retry                 an error that will be retried, then the text
//	ask METHOD PARAMS     a request to the client, with PARAMS, an object without blanks, among its
//	                      own; its answer comes back as the text
//	ask-hang METHOD       likewise, and then it says nothing until interrupted
//	ask-fail METHOD CODE MS  a request, and the turn fails after MS while that is open
//	ask-withdraw METH MS  a request that is resolved after MS without an answer
//	                      (MS may be "steered": after a turn/steer)
//	call TOOL ARGS LESS   a call of the client's TOOL with ARGS, an object without blanks; its answer comes back
//	                      as the text. LESS is left out: message, items (of the call), start (of these), answer,
//	                      deltas, first (those of a message in front of the call), or end
//	call-hang TOOL ARGS   likewise, but the text is what the turn was steered by meanwhile; then it says nothing
//	                      until interrupted
//	subagent              another thread talks in between
//	raw FILE WORD         what stands in FILE goes to stdout as it is, but for THREAD, TURN, OTHERTHREAD and
//	                      OTHERTURN, which are the ids of this turn and of the one that runs with WORD in its
//	                      text, and CALL, the id of the last call; then the text
package fakecodex

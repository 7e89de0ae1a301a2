// Package deliver brings what a journal keeps to where it goes: push notifications, late
// replies, notices of ended tasks, the answers of a channel. It has the loop, the pauses
// between tries, and what becomes of a delivery after each; its users say what there is
// ([Journal]), how one is sent ([Sender]), and what else bounds those under way ([Room]).
// Everything that has to be remembered stands in the journal, so a process that is killed
// anywhere goes on where it was.
//
// # A delivery's way
//
//	due → tried → done                        it has arrived, or need not be made any more
//	        ├───→ put off → due               the receiver may take it later
//	        ├───→ dead                        it is refused for good, or has had its time
//	        └───→ due                         this process ended before the receiver answered
//
// What became of a try is noted until the journal takes it, and the delivery is not tried
// meanwhile: one that has arrived is sent again only by the next process, if the journal
// took nothing until the end of this one.
//
// # Policies
//
// What is tried again waits by a [Curve], or longer where the receiver asks for it, and is
// dead once its next try would come later than [store.Patience] after it was put in, and it
// has had some tries ([IsOver]). The sender's verdict says what does not follow that:
// [Refused] ends at once, [Insist] has no end.
//
// # Ownership and concurrency
//
// [Deliverer.Run] starts a goroutine for each delivery, one for each key at a time, and
// waits for all of them before it returns. [Deliverer.Now] may run beside it; a key is in
// one hand at a time. What one of them has noted, the next one sees. Wake may be called
// from anywhere.
package deliver

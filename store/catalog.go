package store

import (
	"cmp"
	"slices"
	"sort"
	"unique"
)

// A catalog knows in which order lists show the tasks, and what they are filtered by: a
// page and its total then cost a look at some memory and not at every row. It holds
// about 150 bytes a task. It is read from the database in steps, by number, and follows
// each commit from then on; nothing else writes to the database.
type catalog struct {
	order []*entry         // the oldest status first, and the lesser id first among equals
	tasks map[int64]*entry // the same, by their numbers
	ended [classes]int     // tasks of them that have ended
	read  int64            // the number up to which they have been read
	whole bool             // all of them have been
	moves []move           // of the transaction that is open
}

// An entry is a task as lists sort and filter it.
type entry struct {
	n, at          int64
	id             string
	context, state unique.Handle[string]
	class          Class
	ended          bool
}

// A move is what a transaction does to an entry: it is there from now on, has another
// state, or is gone.
type move struct {
	kind  moveKind
	entry entry // of one that is gone, only its number
}

type moveKind int

const (
	added moveKind = iota
	changed
	removed
)

// catalogStep is how many tasks are read at once, in a millisecond or two.
const catalogStep = 500

func newCatalog() catalog { return catalog{tasks: map[int64]*entry{}} }

func entryOf(n int64, h *Head, class Class) entry {
	return entry{n: n, at: nanos(h.At), id: h.ID, context: unique.Make(h.Context), state: unique.Make(h.State), class: class, ended: h.Ended}
}

func (k *catalog) note(kind moveKind, e entry) { k.moves = append(k.moves, move{kind, e}) }

// mark is where the transaction is, for [catalog.backTo].
func (k *catalog) mark() int { return len(k.moves) }

// backTo drops what was noted since a mark: it was rolled back.
func (k *catalog) backTo(mark int) { k.moves = k.moves[:mark] }

// settle takes over what has been committed.
func (k *catalog) settle() {
	for i := range k.moves {
		k.apply(&k.moves[i])
	}
	clear(k.moves)
	k.moves = k.moves[:0]
}

func (k *catalog) apply(m *move) {
	if !k.whole && m.entry.n > k.read {
		return // it will be read as it is
	}
	before := k.tasks[m.entry.n]
	if before != nil {
		k.remove(before)
	}
	now := m.entry
	switch {
	case m.kind == removed, m.kind == changed && before == nil:
		return
	case m.kind == changed:
		now.id, now.context = before.id, before.context // a row keeps them, and the memory is shared
	}
	k.insert(&now)
}

func (k *catalog) insert(e *entry) {
	k.order = slices.Insert(k.order, k.place(e.at, e.id), e)
	k.tasks[e.n] = e
	if e.ended {
		k.ended[e.class]++
	}
}

func (k *catalog) remove(e *entry) {
	i := k.place(e.at, e.id)
	if i < len(k.order)/2 { // it is forgotten, mostly, and few are before it
		copy(k.order[1:i+1], k.order[:i])
		k.order[0] = nil
		k.order = k.order[1:]
	} else {
		k.order = slices.Delete(k.order, i, i+1)
	}
	delete(k.tasks, e.n)
	if e.ended {
		k.ended[e.class]--
	}
}

// place is the index of the first entry that is not before a position.
func (k *catalog) place(at int64, id string) int {
	return sort.Search(len(k.order), func(i int) bool {
		e := k.order[i]
		return cmp.Or(cmp.Compare(e.at, at), cmp.Compare(e.id, id)) >= 0
	})
}

// page returns the numbers of the tasks that a query selects, one more than its limit if
// there are so many, and how many match on all pages.
func (k *catalog) page(q Query) (page []int64, total int) {
	first, end := k.place(nanos(q.Since), ""), len(k.order)
	if q.After != (Position{}) {
		end = k.place(nanos(q.After.At), q.After.ID)
	}
	if q.Context == "" && q.State == "" { // all of them match
		for i := end - 1; i >= first && len(page) <= q.Limit; i-- {
			page = append(page, k.order[i].n)
		}
		return page, len(k.order) - first
	}
	context, state := unique.Make(q.Context), unique.Make(q.State)
	for i := len(k.order) - 1; i >= first; i-- {
		e := k.order[i]
		if q.Context != "" && e.context != context || q.State != "" && e.state != state {
			continue
		}
		total++
		if i < end && len(page) <= q.Limit {
			page = append(page, e.n)
		}
	}
	return page, total
}

// remaining is how many ended tasks of a class there are, without those that the open
// transaction takes away.
func (k *catalog) remaining(class Class) int {
	n := k.ended[class]
	for _, m := range k.moves {
		if e := k.tasks[m.entry.n]; m.kind == removed && e != nil && e.ended && e.class == class {
			n--
		}
	}
	return n
}

// readCatalog reads some more tasks into the catalog, and reports whether there were any
// left to read.
func (c *conn) readCatalog() (more bool, err error) {
	k := &c.catalog
	if k.whole {
		return false, nil
	}
	scan := func(row scanner, e *entry) error {
		var context, state string
		var class int64
		err := row.Scan(&e.n, &e.id, &context, &state, &e.at, &e.ended, &class)
		e.context, e.state, e.class = unique.Make(context), unique.Make(state), classOf(class)
		return err
	}
	found, err := collect(c, scan, "SELECT n, id, context_id, state, at, ended_at IS NOT NULL, class FROM tasks WHERE n > ? ORDER BY n LIMIT ?",
		k.read, catalogStep)
	if err != nil {
		return false, err
	}
	for i := range found {
		k.insert(&found[i])
		k.read = found[i].n
	}
	k.whole = len(found) < catalogStep
	return true, nil
}

package sizes

import (
	"github.com/a2aproject/a2a-go/v2/a2a"
)

// A Heap adds up about what decoded things take in memory, which can be forty times
// what they take on the wire.
type Heap int

const (
	heapString = 16      // beside its bytes
	heapSlice  = 24 + 24 // beside its elements
	heapAny    = 16 + 8  // an element, with room for more of them and for a number
	heapMap    = 48
	heapGroup  = 288 // of up to eight members of a map
	heapPart   = 160
)

// Message counts a message.
func (n *Heap) Message(m *a2a.Message) {
	n.object(m.Metadata)
	n.texts(m.Extensions)
	*n += Heap(len(m.ReferenceTasks) * heapString)
	for _, id := range m.ReferenceTasks {
		*n += Heap(len(id))
	}
	for _, p := range m.Parts {
		*n += heapPart
		n.texts([]string{p.Filename, p.MediaType, p.Text(), string(p.URL())})
		*n += Heap(len(p.Raw()))
		n.value(p.Data())
		n.object(p.Metadata)
	}
}

// Text counts a string without its header.
func (n *Heap) Text(s string) { *n += Heap(len(s)) }

func (n *Heap) texts(all []string) {
	for _, s := range all {
		*n += heapString
		n.Text(s)
	}
}

func (n *Heap) object(o map[string]any) {
	if o == nil {
		return
	}
	*n += heapMap + Heap((len(o)+7)/8*heapGroup)
	for name, v := range o {
		n.Text(name)
		n.value(v)
	}
}

func (n *Heap) value(v any) {
	switch v := v.(type) {
	case string:
		*n += heapString
		n.Text(v)
	case map[string]any:
		n.object(v)
	case []any:
		*n += heapSlice + Heap(len(v)*heapAny)
		for _, v := range v {
			n.value(v)
		}
	}
}

package redact

// keywords finds many short words in one pass over a text, whatever their case: it is the
// automaton of Aho and Corasick with its table in full.
type keywords struct {
	class [256]uint8 // of bytes: those in no word share class 0, and the cases of a letter share one
	width int
	next  []int32 // by state and class; a state is the offset of its row
	found [][]int // what ends in a state, by state, from first on
	first int     // states from this one on end words
}

// newKeywords builds the automaton of words; a hit names the index of its word.
func newKeywords(words []string) *keywords {
	k := &keywords{width: 1}
	for _, word := range words {
		for i := range len(word) {
			if b := lower(word[i]); k.class[b] == 0 {
				k.class[b] = uint8(k.width)
				k.width++
			}
		}
	}
	for b := byte('A'); b <= 'Z'; b++ {
		k.class[b] = k.class[lower(b)]
	}
	t := k.trie(words)
	k.order(t, t.link(k.width))
	return k
}

// A trie holds words before they are made an automaton. Its rows are in the order in which
// the states were made.
type trie struct {
	next  []int32
	found [][]int
}

func (k *keywords) trie(words []string) *trie {
	t := &trie{next: make([]int32, k.width), found: make([][]int, 1)}
	for n, word := range words {
		state := int32(0)
		for i := range len(word) {
			at := int(state)*k.width + int(k.class[word[i]])
			if t.next[at] == 0 {
				t.next[at] = int32(len(t.found))
				t.next = append(t.next, make([]int32, k.width)...)
				t.found = append(t.found, nil)
			}
			state = t.next[at]
		}
		t.found[state] = append(t.found[state], n)
	}
	return t
}

// link fills the gaps of the table with where the longest suffix leads, and returns the
// states from the root on.
func (t *trie) link(width int) []int32 {
	suffix := make([]int32, len(t.found))
	order := []int32{0}
	for i := 0; i < len(order); i++ {
		state := order[i]
		for c := range width {
			at := int(state)*width + c
			fallback := int32(0)
			if state != 0 {
				fallback = t.next[int(suffix[state])*width+c]
			}
			child := t.next[at]
			if child == 0 {
				t.next[at] = fallback
				continue
			}
			suffix[child] = fallback
			t.found[child] = append(t.found[child], t.found[fallback]...)
			order = append(order, child)
		}
	}
	return order
}

// order numbers the states so that those that end a word come last: one comparison for
// each byte then tells whether there is a hit.
func (k *keywords) order(t *trie, states []int32) {
	number := make([]int32, len(states))
	n := int32(0)
	for _, ends := range []bool{false, true} {
		if ends {
			k.first = int(n) * k.width
		}
		for _, state := range states {
			if (len(t.found[state]) > 0) == ends {
				number[state] = n
				n++
			}
		}
	}
	k.next = make([]int32, len(t.next))
	k.found = make([][]int, int(n)-k.first/k.width)
	for _, state := range states {
		row := int(number[state]) * k.width
		for c := range k.width {
			k.next[row+c] = number[t.next[int(state)*k.width+c]] * int32(k.width)
		}
		if len(t.found[state]) > 0 {
			k.found[(row-k.first)/k.width] = t.found[state]
		}
	}
}

// each calls hit with each word that ends in text and the place after it, until hit says
// that it has seen enough.
func (k *keywords) each(text string, hit func(word, end int) bool) {
	state, first, next := 0, k.first, k.next
	for i := 0; i < len(text); i++ {
		state = int(next[state+int(k.class[text[i]])])
		if state < first {
			continue
		}
		for _, word := range k.found[(state-first)/k.width] {
			if !hit(word, i+1) {
				return
			}
		}
	}
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

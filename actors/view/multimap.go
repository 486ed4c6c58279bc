package view

// multimap finds things by a key that several of them may have. Its owner guards
// it; adding and removing cost O(1).
type multimap[K, V comparable] map[K]map[V]struct{}

func (m multimap[K, V]) add(k K, v V) {
	if m[k] == nil {
		m[k] = map[V]struct{}{}
	}
	m[k][v] = struct{}{}
}

func (m multimap[K, V]) remove(k K, v V) {
	if delete(m[k], v); len(m[k]) == 0 {
		delete(m, k)
	}
}

// addOf is add for a thing that may have no such key.
func (m multimap[K, V]) addOf(k *K, v V) {
	if k != nil {
		m.add(*k, v)
	}
}

// removeOf is remove for a thing that may have had no such key.
func (m multimap[K, V]) removeOf(k *K, v V) {
	if k != nil {
		m.remove(*k, v)
	}
}

// Package bounded has a map that holds a largest number of keys. For a new key
// beyond that it forgets the key that has not been used for the longest time. It is
// for what a program remembers to save work, never for what must not be forgotten.
// A Map has no lock: its owner guards it, for reads too, because a read is a use.
package bounded

import (
	"container/list"
	"iter"
)

// Map holds at most as many keys as New was told. The zero Map is not usable.
type Map[K comparable, V any] struct {
	most  int
	at    map[K]*list.Element
	order list.List // of *entry[K, V]; the last used is in front
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

// New returns an empty map that holds at most that many keys. It panics if that is
// less than one.
func New[K comparable, V any](most int) *Map[K, V] {
	if most < 1 {
		panic("bounded: a map needs room for at least one key")
	}
	return &Map[K, V]{most: most, at: map[K]*list.Element{}}
}

// Get returns the value of a key and whether it is known. That is a use of the key.
func (m *Map[K, V]) Get(key K) (value V, known bool) {
	e, known := m.at[key]
	if !known {
		return value, false
	}
	m.order.MoveToFront(e)
	return e.Value.(*entry[K, V]).value, true
}

// Put sets the value of a key. That is a use of the key. If there are too many keys
// then, the map forgets the one that has not been used for the longest time.
func (m *Map[K, V]) Put(key K, value V) {
	if e, known := m.at[key]; known {
		e.Value.(*entry[K, V]).value = value
		m.order.MoveToFront(e)
		return
	}
	m.at[key] = m.order.PushFront(&entry[K, V]{key, value})
	if len(m.at) > m.most {
		m.Delete(m.order.Back().Value.(*entry[K, V]).key)
	}
}

// All ranges over all keys and values, the last used first. It is no use of a key. The map must
// not change meanwhile.
func (m *Map[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for e := m.order.Front(); e != nil; e = e.Next() {
			if at := e.Value.(*entry[K, V]); !yield(at.key, at.value) {
				return
			}
		}
	}
}

// Values returns the values of all keys, the last used first. It is no use of a key.
func (m *Map[K, V]) Values() []V {
	all := make([]V, 0, len(m.at))
	for e := m.order.Front(); e != nil; e = e.Next() {
		all = append(all, e.Value.(*entry[K, V]).value)
	}
	return all
}

// Delete forgets a key and reports whether it was known.
func (m *Map[K, V]) Delete(key K) (known bool) {
	e, known := m.at[key]
	if known {
		m.order.Remove(e)
		delete(m.at, key)
	}
	return known
}

// Clear forgets all keys.
func (m *Map[K, V]) Clear() {
	clear(m.at)
	m.order.Init()
}

// Len returns how many keys are known.
func (m *Map[K, V]) Len() int { return len(m.at) }

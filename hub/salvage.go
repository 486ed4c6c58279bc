package hub

// Salvage says what was brought up from a damaged store into a new one, and what is
// missing there. The lists are bounded; the counts beside them are of all.
//
// API: What the store lacks, if it was brought up from a damaged one. The counts are of all, the lists have the
// first entries.
type Salvage struct {
	Made     Time       `json:"salvaged_at"`
	From     string     `json:"from"`        // Folder of the damaged store.
	Instance InstanceID `json:"of_instance"` // Instance of the damaged store; empty: it could not be read.

	Record  Seq       `json:"record" bounds:"0.."`  // The highest number of a record that anything named.
	Message MessageID `json:"message" bounds:"0.."` // The highest id of a message that anything named.

	Messages     int64         `json:"messages" bounds:"0.."`      // That are whole.
	LostMessages int64         `json:"lost_messages" bounds:"0.."` // Whose ids are in lost_ids.
	LostIDs      []NumberRange `json:"lost_message_ids" bounds:"..20 items"`
	LostRecords  int64         `json:"lost_records" bounds:"0.."` // Among those that the state is made of.
	LostSeqs     []NumberRange `json:"lost_record_numbers" bounds:"..20 items"`
	LostRows     int64         `json:"lost_rows" bounds:"0.."` // Values that fail their checks; a row may have an earlier value now.
	Damaged      []StoreDamage `json:"damaged" bounds:"..20 items"`
	Damages      int64         `json:"damages" bounds:"0.."`      // How many places of files cannot be read.
	Notes        []string      `json:"notes" bounds:"..20 items"` // What else is missing, a sentence each.
}

// NumberRange is the numbers from First to Last.
type NumberRange struct {
	First int64 `json:"first" bounds:"0.."`
	Last  int64 `json:"last" bounds:"0.."`
}

// StoreDamage is one place in a file of a store that cannot be read.
type StoreDamage struct {
	File   string `json:"file"` // Within the folder of the store.
	Reason string `json:"reason"`
}

// SalvageShown is how many entries of a list of a Salvage the status shows.
const SalvageShown = 20

// Short returns s with the first entries of its lists; nil of nil.
func (s *Salvage) Short() *Salvage {
	if s == nil {
		return nil
	}
	c := *s
	c.LostIDs, c.LostSeqs = first(c.LostIDs), first(c.LostSeqs)
	c.Damaged, c.Notes = first(c.Damaged), first(c.Notes)
	return &c
}

func first[T any](list []T) []T { return append([]T{}, list[:min(len(list), SalvageShown)]...) }

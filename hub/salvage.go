package hub

// Salvage says what was brought up from a damaged store into a new one, and what is
// missing there. The lists are bounded; the counts beside them are of all.
type Salvage struct {
	Made     Time       `json:"salvaged_at"`
	From     string     `json:"from"`        // folder of the damaged store
	Instance InstanceID `json:"of_instance"` // of the damaged store; empty if that cannot be read

	// The highest numbers that anything in the damaged store names. The new store goes
	// on far above them.
	Record  Seq       `json:"record"`
	Message MessageID `json:"message"`

	Messages     int64         `json:"messages"`      // that are whole
	LostMessages int64         `json:"lost_messages"` // whose ids are in LostIDs
	LostIDs      []NumberRange `json:"lost_message_ids"`
	LostRecords  int64         `json:"lost_records"` // among those that the state is made of
	LostSeqs     []NumberRange `json:"lost_record_numbers"`
	LostRows     int64         `json:"lost_rows"` // values that fail their checks; a row may have an earlier value now
	Damaged      []StoreDamage `json:"damaged"`
	Damages      int64         `json:"damages"` // how many places of files cannot be read
	Notes        []string      `json:"notes"`   // what else is missing, a sentence each
}

// NumberRange is the numbers from First to Last.
type NumberRange struct {
	First int64 `json:"first"`
	Last  int64 `json:"last"`
}

// StoreDamage is one place in a file of a store that cannot be read.
type StoreDamage struct {
	File   string `json:"file"` // within the folder of the store
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

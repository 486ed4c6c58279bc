package capsule

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hubcli/hub"
	"hubcli/internal/strictjson"
)

// refs is a small project: what the hub calls things, and what the capsule does.
type refs struct {
	numbers map[hub.MessageID]Number
	things  map[string]Ref
}

var someRefs = refs{
	numbers: map[hub.MessageID]Number{12: 5, 5: 12, 900: 1, 1: 2},
	things: map[string]Ref{
		"r_5x": "r1", "d_9": "d1", "a_0": "a22", "m_k": "k1", "run_1z": "u3", "p_7": "p1", "r_5": "r2",
	},
}

func (r refs) message(id hub.MessageID) (Number, bool) { n, ok := r.numbers[id]; return n, ok }
func (r refs) thing(id string) (Ref, bool)             { ref, ok := r.things[id]; return ref, ok }

func (r refs) messageBack(n Number) (hub.MessageID, bool) {
	for id, number := range r.numbers {
		if number == n {
			return id, true
		}
	}
	return 0, false
}

func (r refs) thingBack(ref Ref) (string, bool) {
	for id, other := range r.things {
		if other == ref {
			return id, true
		}
	}
	return "", false
}

func (r refs) encode(text string) string { return EncodeRefs(text, r.message, r.thing) }
func (r refs) decode(text string) string { return DecodeRefs(text, r.messageBack, r.thingBack) }

func TestTextsReferToThingsOfTheCapsule(t *testing.T) {
	for hubText, want := range map[string]string{
		"":                             "",
		"no reference":                 "no reference",
		"#12":                          "#m5",
		"see #12, #5 and #900.":        "see #m5, #m12 and #m1.",
		"#13 is not in the capsule":    "#13 is not in the capsule",
		"#12#5":                        "#m5#5",
		"##12":                         "##m5",
		"x#12 #12x #12_ _#12 #012 #0":  "x#12 #12x #12_ _#12 #012 #0",
		"(#12)":                        "(#m5)",
		"é#12é":                        "é#m5é",
		"任务#12已完成":                     "任务#m5已完成",
		"#99999999999999999999":        "#99999999999999999999",
		"#9007199254740993":            "#9007199254740993",
		"r_5x":                         "#r1",
		"room-r_5x":                    "room-#r1",
		"#r_5x":                        "##r1",
		"r_5x_ r_5xy xr_5x":            "r_5x_ r_5xy xr_5x",
		"r_5x/d_9/a_0,m_k run_1z=p_7":  "#r1/#d1/#a22,#k1 #u3=#p1",
		"r_unknown i_5x seat_1 sp_4":   "r_unknown i_5x seat_1 sp_4",
		"#m12":                         "#mm12",
		"#mm12":                        "#mmm12",
		"#m012":                        "#mm012",
		"#r1 #d1 #a1 #k1 #u1 #p1":      "#rr1 #dd1 #aa1 #kk1 #uu1 #pp1",
		"#mr1 #m #m1x #x1 #M1":         "#mr1 #m #m1x #x1 #M1",
		"x#m12":                        "x#m12",
		"#":                            "#",
		"# 12 #":                       "# 12 #",
		"PR #12: fix r_5 (was m_k) #1": "PR #m5: fix #r2 (was #k1) #m2",
	} {
		if got := someRefs.encode(hubText); got != want {
			t.Errorf("%q is encoded as %q, want %q", hubText, got, want)
		}
		if got := someRefs.decode(want); got != hubText {
			t.Errorf("%q is decoded as %q, want %q", want, got, hubText)
		}
	}
}

func TestReferencesToWhatTheCapsuleLacksStay(t *testing.T) {
	for _, text := range []string{"#m99", "#r99 #u7", "#m012", "#m0", "#12", "r_5x"} {
		if got := someRefs.decode(text); got != text {
			t.Errorf("%q is decoded as %q", text, got)
		}
	}
}

// referring draws texts that are full of what looks like a reference.
var referring = rapid.Custom(func(t *rapid.T) string {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"#", "##", "r_5x", "m_k", "p_7", "run_1z", "room-", "_", " ", "é", "x", "#12", "#m1", "#mm12", "#r1", "\n", "#13", ","}),
		rapid.StringMatching(`#?[mrdakup]{0,3}_?[0-9]{0,3}`),
		rapid.String(),
	)
	return strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "")
})

func TestEncodedTextsComeBackExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := referring.Draw(t, "text")
		if back := someRefs.decode(someRefs.encode(text)); back != text {
			t.Fatalf("%q comes back as %q", text, back)
		}
	})
}

// What goes through two hubs has to say the same in the second capsule as in the first.
func TestTextsSayTheSameAfterTwoHubs(t *testing.T) {
	second := refs{
		numbers: map[hub.MessageID]Number{70_001: 5, 70_002: 12, 70_003: 1, 70_004: 2},
		things: map[string]Ref{
			"r_zz1": "r1", "d_zz1": "d1", "a_zz1": "a22", "m_zz1": "k1", "run_zz1": "u3", "p_zz1": "p1", "r_zz2": "r2",
		},
	}
	rapid.Check(t, func(t *rapid.T) {
		first := someRefs.encode(referring.Draw(t, "text"))
		if again := second.encode(second.decode(first)); again != first {
			t.Fatalf("%q is %q after the second hub", first, again)
		}
	})
}

func FuzzRefs(f *testing.F) {
	for _, text := range []string{"#12 r_5x room-r_5x", "#m12 #mm1", "#r_5x##12#", "é#900x", "\xff#12"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		encoded := someRefs.encode(text)
		if back := someRefs.decode(encoded); back != text {
			t.Fatalf("%q comes back as %q by %q", text, back, encoded)
		}
		numbers, _ := kept(encoded)
		for _, n := range numbers {
			if _, ok := someRefs.message(hub.MessageID(n)); ok {
				t.Fatalf("%q still names #%d, which is in the capsule", encoded, n)
			}
		}
	})
}

func TestTextsWithoutReferencesAreNotCopied(t *testing.T) {
	text := strings.Repeat("An ordinary sentence, with (marks) and 12 numbers. ", 50)
	marked := text + "# a_title of snake_case and #tags"
	for _, given := range []string{text, marked} {
		allocated := testing.AllocsPerRun(10, func() {
			if someRefs.encode(given) != given || someRefs.decode(given) != given {
				t.Error("the text is changed")
			}
		})
		if allocated != 0 {
			t.Errorf("a text without references takes %v allocations", allocated)
		}
	}
}

// someDecoder knows the things of someRefs, and notes what else the texts name.
func someDecoder(numbers *[]int64, ids *[]string) *Decoder {
	return &Decoder{
		Message: someRefs.messageBack, Thing: someRefs.thingBack,
		Number: func(n int64) { *numbers = append(*numbers, n) },
		ID:     func(token string) { *ids = append(*ids, token) },
	}
}

// kept returns the numbers and ids that a text of a capsule keeps as they are.
func kept(text string) (numbers []int64, ids []string) {
	someDecoder(&numbers, &ids).Text(text)
	return numbers, ids
}

func TestDecoderTellsWhatTextsKeep(t *testing.T) {
	numbers, ids := kept("#13 #m5 x#14 #15x ##16, (#17) #018 #0 r_5,(room-r_6)a_b_c #r1_")
	if want := []int64{13, 16, 17}; !slices.Equal(numbers, want) {
		t.Errorf("the numbers are %v, want %v", numbers, want)
	}
	if want := []string{"r_5", "r_6", "a_b_c", "r1_"}; !slices.Equal(ids, want) {
		t.Errorf("the ids are %q, want %q", ids, want)
	}
}

// What stands in JSON is told of as the hub reads it: without its escapes, and where the hub
// writes ids also plain numbers.
func TestDecoderTellsWhatMetadataKeep(t *testing.T) {
	var numbers []int64
	var ids []string
	raw := json.RawMessage(`{"a\n#901":"\u0023902\nr_9","n":903,"task_completed":904,"wake":{"matched":[905,"#m5","#906"],"since_id":1.5}}`)
	if _, err := someDecoder(&numbers, &ids).Metadata(raw); err != nil {
		t.Fatal(err)
	}
	if want := []int64{901, 902, 904, 905}; !slices.Equal(numbers, want) {
		t.Errorf("the numbers are %v, want %v", numbers, want)
	}
	if want := []string{"r_9", "task_completed", "since_id"}; !slices.Equal(ids, want) {
		t.Errorf("the ids are %q, want %q", ids, want)
	}
}

func TestJSONHasItsReferencesInNamesAndValues(t *testing.T) {
	raw := json.RawMessage(` {"z": [1.50, 1e3, "#12", null, true], "r_5x": {"b":"#m1","a":"\u0023900 \ud83d\ude00"}, "":-0} `)
	want := `{"":-0,"#r1":{"a":"#m1 😀","b":"#mm1"},"z":[1.50,1e3,"#m5",null,true]}`
	got, err := EncodeJSON(raw, someRefs.message, someRefs.thing)
	if err != nil || string(got) != want {
		t.Fatalf("got %s, %v, want %s", got, err, want)
	}
	back, err := someDecoder(new([]int64), new([]string)).JSON(got)
	if want := `{"":-0,"r_5x":{"a":"#900 😀","b":"#m1"},"z":[1.50,1e3,"#12",null,true]}`; err != nil || string(back) != want {
		t.Errorf("it comes back as %s, %v, want %s", back, err, want)
	}
}

func TestMetadataOfTheHubHasItsNumbersTranslated(t *testing.T) {
	for hubText, want := range map[string]string{
		`{"task_completed":12}`:     `{"task_completed":"#m5"}`,
		`{"task_completed":13}`:     `{"task_completed":13}`,
		`{"task_completed":12.0}`:   `{"task_completed":12.0}`,
		`{"task_completed":"#12"}`:  `{"task_completed":"#12"}`,
		`{"task_completed":"#m12"}`: `{"task_completed":"#mm12"}`,
		`{"task_completed":"r_5x"}`: `{"task_completed":"r_5x"}`,
		`{"wake":{"matched":[12,5,13],"reason":"task_ready r_5x","since_id":12}}`:     `{"wake":{"matched":["#m5","#m12",13],"reason":"task_ready #r1","since_id":"#m5"}}`,
		`{"handoff":{"from":"a","state":"offered","task_id":900,"to":"b"}}`:           `{"handoff":{"from":"a","state":"offered","task_id":"#m1","to":"b"}}`,
		`{"recovery":{"agent_id":"a","task_message_id":null}}`:                        `{"recovery":{"agent_id":"a","task_message_id":null}}`,
		`{"recovery":{"agent_id":"a","task_message_id":5}}`:                           `{"recovery":{"agent_id":"a","task_message_id":"#m12"}}`,
		`{"task_id":12,"x":{"since_id":12,"wake":{"since_id":12}}}`:                   `{"task_id":12,"x":{"since_id":12,"wake":{"since_id":12}}}`,
		`{"wake":[{"since_id":12},{"since_id":"#m1"}]}`:                               `{"wake":[{"since_id":"#m5"},{"since_id":"#mm1"}]}`,
		`{"task_completed":{"task_completed":12,"x":"#12"}}`:                          `{"task_completed":{"task_completed":12,"x":"#m5"}}`,
		`{"task_completed":["#12",[12]]}`:                                             `{"task_completed":["#12",["#m5"]]}`,
		`{"decision":"d_9","spawn":{"artifact_id":"a_0","room_id":"r_5x"}}`:           `{"decision":"#d1","spawn":{"artifact_id":"#a22","room_id":"#r1"}}`,
		`{"run":{"counts":{"total":12},"run_id":"run_1z","status":"complete"}}`:       `{"run":{"counts":{"total":12},"run_id":"#u3","status":"complete"}}`,
		`{"loop":{"agents":["a","b"],"channel":"room-r_5x","hops":12,"room":"r_5x"}}`: `{"loop":{"agents":["a","b"],"channel":"room-#r1","hops":12,"room":"#r1"}}`,
	} {
		got, err := EncodeMetadata(json.RawMessage(hubText), someRefs.message, someRefs.thing)
		if err != nil || string(got) != want {
			t.Errorf("%s is encoded as %s, %v, want %s", hubText, got, err, want)
		}
		back, err := someDecoder(new([]int64), new([]string)).Metadata(got)
		if err != nil || string(back) != hubText {
			t.Errorf("%s comes back as %s, %v", hubText, back, err)
		}
	}
}

// anyJSON draws JSON texts with names and strings that look like references, in the form
// in which they come back.
func anyJSON(depth int) *rapid.Generator[any] {
	plain := rapid.OneOf(
		rapid.Map(referring, func(s string) any { return strings.ToValidUTF8(s, "") }),
		rapid.Map(rapid.Int64Range(0, 20), func(n int64) any { return json.Number(strconv.FormatInt(n, 10)) }),
		rapid.Just[any](nil), rapid.Just[any](true),
	)
	if depth == 0 {
		return plain
	}
	name := rapid.OneOf(rapid.SampledFrom([]string{"task_completed", "wake", "matched", "since_id", "handoff", "task_id"}),
		rapid.Map(referring, func(s string) string { return strings.ToValidUTF8(s, "") }))
	return rapid.OneOf(plain,
		rapid.Map(rapid.SliceOfN(anyJSON(depth-1), 0, 4), func(list []any) any { return list }),
		rapid.Map(rapid.MapOfN(name, anyJSON(depth-1), 0, 4), func(object map[string]any) any { return object }))
}

func TestEncodedMetadataComesBackExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given, err := json.Marshal(anyJSON(4).Draw(t, "value"))
		if err != nil {
			t.Fatal(err)
		}
		same := func(text string) string { return text }
		raw, err := MapJSON(given, same)
		if err != nil {
			t.Fatalf("%s: %v", given, err)
		}
		encoded, err := EncodeMetadata(raw, someRefs.message, someRefs.thing)
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if back, err := someDecoder(new([]int64), new([]string)).Metadata(encoded); err != nil || string(back) != string(raw) {
			t.Fatalf("%s comes back as %s, %v, by %s", raw, back, err, encoded)
		}
		var want, got any
		if json.Unmarshal(given, &want) != nil || json.Unmarshal(raw, &got) != nil || !equalJSON(want, got) {
			t.Fatalf("%s became %s", given, raw)
		}
	})
}

func equalJSON(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

func TestJSONThatIsNoneIsRefused(t *testing.T) {
	same := func(text string) string { return text }
	for raw, want := range map[string]error{
		``: errJSON, `{`: errJSON, `{"a":1,}`: errJSON, `[1 2]`: errJSON, `{"a" 1}`: errJSON, `"\x"`: errJSON, "\"\n\"": errJSON, `01`: errJSON, `{} {}`: errJSON,
		"\"\xff\"":                     errUTF8,
		`{"a":1,"\u0061":2}`:           errTwice,
		`[{"b":{"a":1,"c":2,"a":3}}]`:  errTwice,
		`"\ud800"`:                     errSurrogate,
		`"\ud800\u0041"`:               errSurrogate,
		`"\udc00x"`:                    errSurrogate,
		`[1e999]`:                      errRange,
		`-` + strings.Repeat("9", 400): errRange,
		strings.Repeat("[", strictjson.MaxDepth+1) + strings.Repeat("]", strictjson.MaxDepth+1): errDepth,
		strings.Repeat("[", 1_000_000): errDepth,
	} {
		if got, err := MapJSON(json.RawMessage(raw), same); !errors.Is(err, want) {
			t.Errorf("%.40q: got %s, %v, want %v", raw, got, err, want)
		}
	}
	whole := strings.Repeat("[", strictjson.MaxDepth) + strings.Repeat("]", strictjson.MaxDepth)
	if got, err := MapJSON(json.RawMessage(whole), same); err != nil || string(got) != whole {
		t.Errorf("%d levels are refused: %v", strictjson.MaxDepth, err)
	}
}

// A name that a capsule gives twice, once as a reference, becomes one name in the hub.
func TestNamesThatBecomeOneAreRefused(t *testing.T) {
	if got, err := someDecoder(new([]int64), new([]string)).JSON(json.RawMessage(`{"#m5":1,"#12":2}`)); !errors.Is(err, errTwice) {
		t.Errorf("got %s, %v", got, err)
	}
}

func BenchmarkEncodeRefs(b *testing.B) {
	text := strings.Repeat("The parser of snake_case names is done, see #12 and room-r_5x for the rest. ", 4)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		someRefs.encode(text)
	}
}

// Strings that want to be more than text: the same ones each time, from a seed. Each has a
// mark with its number, so that a test knows which of them a page has shown.

// random is mulberry32.
function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const act = "window.caught=1";
const events = ["onerror", "onload", "onclick", "onfocus", "onmouseover", "onanimationstart", "ontoggle", "onpointerenter", "onbeforeinput"];
const elements = ["img src=x", "svg", "body", "video src=x", "details open", "input autofocus", "iframe src=x", "marquee", "math", "select autofocus", "x tabindex=1"];
const schemes = ["javascript:", "JaVaScRiPt:", "java\tscript:", "\u0001javascript:", "data:text/html,", "vbscript:", "blob:", "file:///etc/passwd#"];
const bidi = ["\u202a", "\u202b", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u200e", "\u200f", "\u061c"];
const unseen = ["\u200b", "\u2060", "\ufeff", "\u00ad", "\u034f", "\u180e", "\u3164", "\u{e0041}", "\u{1d173}", "\ufe01", "\u2028", "\u2029"];
const controls = ["\u0001", "\u0007", "\u0008", "\u001b[2J", "\u001b]0;owned\u0007", "\u007f", "\u0085", "\u009b31m", "\r", "\v", "\f"];
const marks = ["\u0300", "\u0316", "\u0336", "\u0489", "\u20dd", "\u0e47", "\u0f39", "\u06e1", "\u034f", "\ufe01"];
const templates = ["{{constructor.constructor('A')()}}", "${A}", "<%= A %>", "#{A}", "{%raw%}A", "[[${A}]]", "%00A", "{{=A}}", "@{A}", "__proto__", "constructor", "[object Object]"];
const signs = ["]]>", "-->", "<!--", "</bdi></main>", "</script><script>A</script>", "\"><script>A</script>", "'-A-'", "`${A}`", "&lt;script&gt;A&lt;/script&gt;", "<![CDATA[", "</textarea>", "</title><script>A</script>"];
const tongues = ["مرحبا بالعالم", "שלום עולם", "سلام דוגמה 123 abc", "हिन्दी में", "ไทยกำลัง", "ქართული", "𝕎𝕖𝕚𝕣𝕕", "👩‍👩‍👧‍👦🏳️‍🌈", "Ａ１", "ﷺ﷽"];

// kinds make the text around the mark. Each takes pick, which picks of a list, and much, a
// number up to a bound.
const kinds = [
  (pick) => `<${pick(elements)} ${pick(events)}="${act}">`,
  (pick) => `<${pick(elements)} ${pick(events)}=${act}//`,
  (pick) => `<script>${act}</script><${pick(elements)}>`,
  (pick) => `[press](${pick(schemes)}${act})`,
  (pick) => `<a href="${pick(schemes)}${act}" style="position:fixed;inset:0">press</a>`,
  (pick) => `<style>*{display:none}@import 'http://198.51.100.7/${pick(events)}'</style>`,
  (pick) => `<base href=http://198.51.100.7/><link rel=stylesheet href=x><meta http-equiv=refresh content="0;url=${pick(schemes)}${act}">`,
  (pick) => `![](http://198.51.100.7/${pick(events)}.png)<img src=http://198.51.100.7/x>`,
  (pick) => `${pick(bidi)}${pick(bidi)}gnp.${pick(tongues)}${pick(bidi)}`,
  (pick) => `a${pick(unseen)}b${pick(unseen)}c${pick(unseen)}`,
  (pick) => `x${pick(controls)}y${pick(controls)}`,
  (pick, much) => `z${Array.from({ length: 10 + much(60) }, () => pick(marks)).join("")}`,
  (pick, much) => pick(["w", "W", "漢", "_", "ﷺ", "m/"]).repeat(40 + much(140)),
  (pick, much) => `${pick(["\u00a0", "\u2003", "\u3000", "\ud83d\ude00"])}`.repeat(20 + much(80)),
  (pick, much) => `${pick(["👩", "☠️", "a"])}\u200d`.repeat(20 + much(60)),
  (pick) => `operator ${pick(["●", "⚙"])} ${pick(["you", "[you]", "<span class=\"badge badge-operator\">you</span>", "hub"])} `,
  (pick) => pick(templates).replaceAll("A", act),
  (pick) => pick(signs).replaceAll("A", act),
  (pick) => `${pick(tongues)} ${pick(tongues)}`,
  (pick) => `\`\`\`${pick(["html", "", "js"])}\n${pick(signs).replaceAll("A", act)}\n\`\`\``,
  (pick, much) => `${"\n".repeat(1 + much(30))}${pick(tongues)}${"\t".repeat(1 + much(30))}`,
];

// strings returns count strings of at most 190 characters.
export function strings(seed, count) {
  const next = random(seed);
  const much = (bound) => Math.floor(next() * bound);
  const pick = (list) => list[much(list.length)];
  return Array.from({ length: count }, (_, i) => `q${i}q` + Array.from(kinds[i % kinds.length](pick, much)).slice(0, 90 + 5 * much(18)).join(""));
}

// numbers returns the numbers of the strings whose marks a text has.
export const numbers = (text) => [...text.matchAll(/q(\d+)q/g)].map((found) => Number(found[1]));

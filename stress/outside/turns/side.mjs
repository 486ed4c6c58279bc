// Requests that harnesses make beside the turns of an agent. Every other one that no script
// expects is a failure.

// An answer has a body, or the text that a model says. A row with tools is about a request
// to the model, with at most so many of them; one with sent is about what the model reads.
const rows = [
  { what: "opencode asks for the title of a session", method: "POST", path: /^\/v1\/chat\/completions$/, tools: 0, answer: { text: "A title" } },
  { what: "Qwen Code asks what its user might say next", method: "POST", path: /^\/v1\/chat\/completions$/, sent: /Reply with ONLY the suggestion, no quotes or explanation\."\}\]\}\]$/, answer: { text: "" } },
  { what: "Qwen Code asks what it should remember", method: "POST", path: /^\/v1\/chat\/completions$/, sent: /^.{0,80}You are now acting as the managed memory extraction subagent/, answer: { text: "Nothing." } },
];

// aside returns the answer to such a request, or undefined for any other.
export const aside = (method, path, request) =>
  rows.find((row) => row.method === method && row.path.test(path) && (!request || fits(row, request)))?.answer;

const fits = ({ tools = Infinity, sent }, request) => Object.keys(request.tools).length <= tools && (!sent || sent.test(request.sent));

// Requests that harnesses make beside the turns of an agent. Every other one that no script
// expects is a failure.

// An answer has a body, or the text that a model says. A row with tools is about a request
// to the model, with at most so many of them.
const rows = [
  { what: "opencode asks for the title of a session", method: "POST", path: /^\/v1\/chat\/completions$/, tools: 0, answer: { text: "A title" } },
];

// aside returns the answer to such a request, or undefined for any other.
export const aside = (method, path, request) =>
  rows.find((row) => row.method === method && row.path.test(path) && (!request || Object.keys(request.tools).length <= row.tools))?.answer;

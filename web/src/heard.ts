// When the hub was last heard: by a byte of the stream, or by the answer to a call.

let last = { at: Date.now(), tick: performance.now() };

const told = new Set<() => void>();

// hear notes that the hub has said something.
export function hear(): void {
  last = { at: Date.now(), tick: performance.now() };
  for (const one of told) one();
}

// onHeard calls back each time.
export const onHeard = (run: () => void) => void told.add(run);

// heard is when that was, and silentFor for how many ms nothing was heard.
export const heard = () => last.at;
export const silentFor = () => performance.now() - last.tick;

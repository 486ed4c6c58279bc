import { place, setQuery } from "../route";

// Long lists are read page by page: the address names the row before which the page begins
// (?before=), so that a link leads to it and the DOM stays small.

export const pageSize = 100;

// pageOf is the query of a page of a list whose ids begin with prefix. It asks for one row more
// than is shown, which tells whether there are more.
export function pageOf(prefix: string): string {
  const before = place.value.query.get("before") ?? "";
  const from = before.startsWith(prefix) ? "&before=" + encodeURIComponent(before) : "";
  return `limit=${pageSize + 1}${from}`;
}

// Older goes to the page after the last row, and back to the newest.
export function Older({ ids, prefix }: { ids: readonly string[]; prefix: string }) {
  const before = place.value.query.get("before") ?? "";
  const last = ids[pageSize - 1];
  const more = ids.length > pageSize && last !== undefined;
  const older = before.startsWith(prefix);
  if (!more && !older) return null;
  return (
    <nav class="row older" aria-label="Pages of this list">
      <span class="soft">
        {more ? `${pageSize} are shown, and there are more.` : "These are the oldest."}
      </span>
      {older && (
        <button type="button" data-look onClick={() => setQuery({ before: "" }, false)}>
          Newest
        </button>
      )}
      {more && (
        <button type="button" data-look onClick={() => setQuery({ before: last }, false)}>
          Older
        </button>
      )}
    </nav>
  );
}

import type { ComponentChildren } from "preact";
import { place, setQuery } from "../route";

const size = 100;

interface PagerProps<T> {
  rows: readonly T[];
  what: string; // of the rows, in the plural
  cut?: string; // what to say where the hub has more rows than were read
  children: (shown: readonly T[]) => ComponentChildren;
}

// Pager shows a long list in pages of 100 rows, so that the page stays small. The address names the
// page (?page=). A list that has become shorter shows its last page.
export function Pager<T>({ rows, what, cut = "", children }: PagerProps<T>) {
  const pages = Math.max(1, Math.ceil(rows.length / size));
  const at = Math.min(pages, Math.max(1, Number(place.value.query.get("page")) || 1));
  const turn = (by: number) => {
    setQuery({ page: at + by === 1 ? "" : String(at + by) });
    document.getElementById("main")?.scrollIntoView();
  };
  const from = (at - 1) * size;
  return (
    <>
      {children(rows.slice(from, from + size))}
      {cut && <p class="empty">{cut}</p>}
      {pages > 1 && (
        <nav class="row pager" aria-label={`Pages of ${what}`}>
          <button type="button" data-look disabled={at === 1} onClick={() => turn(-1)}>
            ‹ Previous
          </button>
          <span>
            {from + 1}–{Math.min(from + size, rows.length)} of {rows.length} {what}
          </span>
          <button type="button" data-look disabled={at === pages} onClick={() => turn(1)}>
            Next ›
          </button>
        </nav>
      )}
    </>
  );
}

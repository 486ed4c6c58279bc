import type { ComponentChildren, JSX } from "preact";

// Rows of lists are one line through the page for the keyboard: j and k go to the next and
// the previous row of any list, Enter opens the row that has the focus.

type RowProps = JSX.IntrinsicElements["li"] & { children: ComponentChildren };

// Row is a row that j and k reach. Enter clicks what in it has data-open, else its first link
// or button. In a question it goes to the first answer, and does nothing.
export function Row({ children, ...rest }: RowProps) {
  return (
    <li
      {...rest}
      class={["item", rest.class].filter(Boolean).join(" ")}
      data-row=""
      tabIndex={-1}
      onKeyDown={(event: KeyboardEvent) => {
        if (event.key !== "Enter" || event.target !== event.currentTarget) return;
        const row = event.currentTarget as HTMLElement;
        if (row.dataset["ask"] !== undefined) {
          event.preventDefault(); // or this key would press what it goes to
          return row.querySelector<HTMLElement>("[data-answer], [data-words], button")?.focus();
        }
        (row.querySelector<HTMLElement>("[data-open]") ?? row.querySelector<HTMLElement>("a, button"))?.click();
      }}
    >
      {children}
    </li>
  );
}

// keysOf gives each row a key by what it says, for rows without a name of their own. A dialog about a
// row ends with it, and never goes on about another that has come to its place.
export function keysOf(rows: readonly unknown[]): string[] {
  const texts = rows.map((row) => JSON.stringify(row));
  return texts.map((text, i) => `${texts.slice(0, i).filter((other) => other === text).length} ${text}`);
}

// step moves the focus to another row of the page. Without a row that has it, it begins with the
// first row that can be seen.
export function step(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>("main [data-row]")];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = at < 0 ? rows.find((row) => row.getBoundingClientRect().bottom > 60) : rows[at + by];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

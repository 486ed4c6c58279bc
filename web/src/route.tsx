import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";

// The place of the page is its address, so that a link leads there, a reload stays there and
// the back button goes where it says. Nothing else keeps it.

export interface Place {
  path: string; // below /ui/, without a slash at its ends
  parts: string[]; // of the path, decoded
  query: URLSearchParams;
}

const base = "/ui/";

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // no address of ours; the page says that nothing is there
  }
}

function read(): Place {
  const path = location.pathname.startsWith(base) ? location.pathname.slice(base.length).replace(/^\/+|\/+$/g, "") : "";
  return { path, parts: path === "" ? [] : path.split("/").map(decode), query: new URLSearchParams(location.search) };
}

// place is where the page is; moves counts how often a person went to another path.
export const place = signal<Place>(read());
export const moves = signal(0);

function arrive(): void {
  const next = read();
  if (next.path !== place.value.path) moves.value++;
  place.value = next;
}

addEventListener("popstate", arrive);

// to makes an address of the page from its parts: to("rooms", room.room_id).
export const to = (...parts: string[]) => base + parts.map(encodeURIComponent).join("/");

// go moves the page. With replace the back button skips where it was.
export function go(address: string, replace = false): void {
  if (replace) {
    history.replaceState(null, "", address);
    place.value = read();
    return;
  }
  if (address !== location.pathname + location.search) history.pushState(null, "", address);
  const before = moves.value;
  arrive();
  if (moves.value !== before) scrollTo(0, 0);
}

// setQuery changes what the address says after its question mark, for filters and tabs. An
// empty value is left out.
export function setQuery(values: Record<string, string>, replace = true): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(values)) {
    if (value === "") query.delete(name);
    else query.set(name, value);
  }
  const said = query.toString();
  go(location.pathname + (said && "?" + said), replace);
}

type LinkProps = Omit<JSX.IntrinsicElements["a"], "href"> & { to: string; children: ComponentChildren };

// Link is a link to a place of the page. With a modifier key, or another button of the mouse,
// it does what the browser does.
export function Link({ to: address, children, ...rest }: LinkProps) {
  return (
    <a
      {...rest}
      href={address}
      onClick={(event: MouseEvent) => {
        if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        go(address);
      }}
    >
      {children}
    </a>
  );
}

import { said } from "./ui/outcome";
import { clean } from "./ui/text";

// A button decides only what the person has seen in its place. One that has come, moved or come to
// be about something else within the last moment takes no click, neither by pointer nor by key:
// what was there before was meant. This holds for every button of the page. One that only changes
// what is shown has data-look, and is exempt.

// rest is how long a button must have been where it is, in ms.
export const rest = 700;

const guarded = "button:not([data-look]), select[data-decides]";
const slack = 4; // px by which a button may move, such as for a digit more beside it

interface Place {
  left: number;
  top: number;
  right: number;
  bottom: number;
  shown: boolean; // it can be pressed; a page behind a dialog cannot
  covered: number; // px² of it that lie under what is said at the foot of the page
  about: string; // what it says and is about
  since: number;
}

let places = new WeakMap<Element, Place>();

const moved = (a: Place, b: Place) =>
  a.shown !== b.shown || a.about !== b.about || a.covered > b.covered || [a.left - b.left, a.top - b.top, a.right - b.right, a.bottom - b.bottom].some((by) => Math.abs(by) > slack);

// Over is what lies over the page.
interface Over {
  modal: Element | undefined;
  cover: DOMRect | undefined;
}

const over = (): Over => ({ modal: [...document.querySelectorAll("dialog[open]")].at(-1), cover: document.querySelector(".outcome")?.getBoundingClientRect() });

const common = (from: number, to: number, a: number, b: number) => Math.max(0, Math.min(to, b) - Math.max(from, a));

// look notes where a button is now. Small moves add up.
function look(button: HTMLElement, { modal, cover }: Over, at: number): Place {
  const { left, top, right, bottom } = button.getBoundingClientRect();
  const shown = right > left && bottom > top && (!modal || modal.contains(button));
  const covered = cover ? common(left, right, cover.left, cover.right) * common(top, bottom, cover.top, cover.bottom) : 0;
  const about = (button.dataset["about"] ?? "") + "\n" + (button instanceof HTMLSelectElement ? "" : button.textContent);
  const now = { left, top, right, bottom, shown, covered, about, since: at };
  const was = places.get(button);
  if (was && !moved(was, now)) {
    was.covered = covered;
    return was;
  }
  places.set(button, now);
  return now;
}

let due = false;
let timer = 0;

// survey looks at all buttons, in the moment before they are painted, and marks those that take no
// click yet.
function survey(): void {
  due = false;
  const at = performance.now();
  const above = over();
  let soonest = Infinity;
  for (const button of document.querySelectorAll<HTMLElement>(guarded)) {
    const left = look(button, above, at).since + rest - at;
    if (left <= 0) {
      if (button.hasAttribute("aria-disabled")) button.removeAttribute("aria-disabled");
      continue;
    }
    if (!button.hasAttribute("aria-disabled")) button.setAttribute("aria-disabled", "true");
    soonest = Math.min(soonest, left);
  }
  clearTimeout(timer);
  if (soonest < Infinity) timer = setTimeout(soon, Math.ceil(soonest));
}

function soon(): void {
  if (due) return;
  due = true;
  requestAnimationFrame(survey);
}

// come marks new buttons at once, and has all looked at before they are painted.
function come(): void {
  for (const button of document.querySelectorAll(guarded)) {
    if (!places.has(button) && !button.hasAttribute("aria-disabled")) button.setAttribute("aria-disabled", "true");
  }
  soon();
}

let pressed: { on: Element | null; at: number } = { on: null, at: 0 };
let clicked: Element | null = null;

const guardedAt = (event: Event) => (event.target instanceof Element ? event.target.closest<HTMLElement>(guarded) : null);

// tooSoon tells whether a person who acted at a time cannot have meant what the button is now.
function tooSoon(button: HTMLElement, at: number): boolean {
  const { shown, since } = look(button, over(), performance.now());
  return !shown || at - since < rest;
}

function refuse(event: Event, button: HTMLElement): void {
  event.preventDefault();
  event.stopImmediatePropagation();
  const label = clean(button.getAttribute("aria-label") ?? (button instanceof HTMLSelectElement ? "" : button.textContent)).trim();
  said.value = `Nothing was done: ${label ? `“${label}”` : "this"} had only just come here. Look at it, and press again.`;
  soon();
}

function begin(): void {
  const quiet = { capture: true, passive: true } as const;
  new MutationObserver(come).observe(document, {
    subtree: true,
    childList: true,
    characterData: true,
    attributes: true,
    attributeFilter: ["class", "hidden", "open", "disabled", "data-about"],
  });
  for (const name of ["scroll", "resize", "load", "toggle", "transitionend", "animationend"]) addEventListener(name, soon, quiet);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    places = new WeakMap(); // what changed meanwhile was seen by nobody
    soon();
  });
  // What a person presses is what was there when the press began, however long it takes.
  addEventListener("pointerdown", (event) => (pressed = { on: guardedAt(event), at: event.timeStamp }), quiet);
  addEventListener(
    "mousedown", // a list of choices opens with it
    (event) => {
      const list = guardedAt(event);
      if (list instanceof HTMLSelectElement && tooSoon(list, event.timeStamp)) refuse(event, list);
    },
    true,
  );
  addEventListener(
    "keydown",
    (event) => {
      const button = guardedAt(event);
      if (!button || (event.key !== "Enter" && event.key !== " ")) return;
      if (event.repeat) event.preventDefault(); // a key that is held down was meant for what was there before
      else pressed = { on: button, at: event.timeStamp };
    },
    true,
  );
  addEventListener(
    "click",
    (event) => {
      const button = guardedAt(event);
      // The second click of two is for what the first one was for.
      const stray = event.detail > 1 && clicked !== button;
      clicked = event.target instanceof Element ? event.target.closest("button, a, select, input") : null;
      if (!button) return;
      const at = pressed.on === button ? Math.min(pressed.at, event.timeStamp) : event.timeStamp;
      pressed = { on: null, at: 0 };
      if (stray || tooSoon(button, at)) refuse(event, button);
    },
    true,
  );
  soon();
}

begin();

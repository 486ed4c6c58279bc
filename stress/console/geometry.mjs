// geometry runs in a page and returns what is wrong with where things are. It reads the page as it is at one
// width: what is cut off by a part that scrolls does not count.
export function geometry() {
  const wrong = new Set();
  const root = document.documentElement;
  const name = (element) => {
    const own = (it) => it.localName + (typeof it.className === "string" && it.className ? "." + it.className.trim().replaceAll(/\s+/g, ".") : "");
    return `${element.parentElement ? own(element.parentElement) + " > " : ""}${own(element)}`;
  };
  const words = (text) => JSON.stringify(text.trim().slice(0, 40));

  // The page is no wider than the window, and no longer than what is on it.
  if (root.scrollWidth > root.clientWidth) wrong.add(`the page is ${root.scrollWidth} wide in ${root.clientWidth}`);
  const style = new Map();
  const of = (element) => {
    if (!style.has(element)) style.set(element, getComputedStyle(element));
    return style.get(element);
  };
  const seen = new Map();
  // shownIn is the part of the page in which an element can be seen: what its ancestors cut off is not in it.
  const shownIn = (element) => {
    if (seen.has(element)) return seen.get(element);
    let box = { left: 0, top: -Infinity, right: root.clientWidth, bottom: Infinity };
    const fixed = element && of(element).position === "fixed";
    if (element && element !== document.body && !fixed) {
      const up = shownIn(element.parentElement);
      box = up;
      const parent = element.parentElement;
      const { overflowX, overflowY } = of(parent);
      if (parent !== document.body && (overflowX !== "visible" || overflowY !== "visible")) {
        const { left, top, right, bottom } = parent.getBoundingClientRect();
        box = {
          left: overflowX === "visible" ? up.left : Math.max(up.left, left),
          right: overflowX === "visible" ? up.right : Math.min(up.right, right),
          top: overflowY === "visible" ? up.top : Math.max(up.top, top),
          bottom: overflowY === "visible" ? up.bottom : Math.min(up.bottom, bottom),
        };
      }
    }
    seen.set(element, box);
    return box;
  };
  const cut = (rect, box) => {
    const [left, right] = [Math.max(rect.left, box.left), Math.min(rect.right, box.right)];
    const [top, bottom] = [Math.max(rect.top, box.top), Math.min(rect.bottom, box.bottom)];
    return right > left && bottom > top ? { left, right, top, bottom } : null;
  };
  const hidden = (element) => !element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || of(element).clipPath !== "none" || element.closest(".sr, svg, .skip") !== null;

  // layer names what lies over the rest of the page by intent.
  const layers = new Map();
  const layer = (element) => {
    if (element === null || element === document.body) return null;
    if (!layers.has(element)) {
      const { position, zIndex } = of(element);
      const own = position === "fixed" || (position === "absolute" && element.matches("button, .outcome")) || zIndex !== "auto" || element.localName === "dialog";
      layers.set(element, own ? element : layer(element.parentElement));
    }
    return layers.get(element);
  };

  // Texts: each word whole, and none over another.
  const lines = [];
  let lowest = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || hidden(parent)) continue;
    range.selectNodeContents(node);
    const box = shownIn(parent);
    const inner = of(parent).overflowX !== "visible" ? cut(parent.getBoundingClientRect(), box) : box;
    const rects = [...range.getClientRects()].filter((rect) => rect.width > 0.5);
    if (rects.length === 0) continue;
    const shown = inner ? rects.map((rect) => cut(rect, inner)).filter(Boolean) : [];
    for (const rect of shown) {
      lines.push({ ...rect, node });
      lowest = Math.max(lowest, rect.bottom + scrollY);
    }
    // A word that is short enough for any column is never broken. The browser may break behind a sign.
    if (rects.length > 1) {
      for (const found of node.data.matchAll(/[\p{L}\p{M}\p{N}]{2,16}(?![\p{L}\p{M}\p{N}])/gu)) {
        if (/[\p{L}\p{M}\p{N}]/u.test(node.data[found.index - 1] ?? "")) continue;
        range.setStart(node, found.index);
        range.setEnd(node, found.index + found[0].length);
        const tops = new Set([...range.getClientRects()].filter((rect) => rect.width > 0.5).map((rect) => Math.round(rect.top / 4)));
        if (tops.size < 2) continue;
        const within = longest(node, found.index, found[0].length);
        if (within <= 24) wrong.add(`${name(parent)} breaks the word ${words(found[0])} of ${words(node.data)}`);
      }
    }
    // What is cut off at its end still shows a word.
    const room = inner ? inner.right - inner.left : 0;
    const whole = Math.max(...rects.map((rect) => rect.right)) - Math.min(...rects.map((rect) => rect.left));
    if (inner && whole > room + 1 && of(parent.closest(".cut") ?? parent).textOverflow === "ellipsis" && room < 40) wrong.add(`${name(parent)} has ${Math.round(room)} pixels for ${words(node.data)}`);
  }
  // longest is how long the run of signs is in which a word stands, without a blank and a hyphen: the
  // browser may break behind both.
  function longest(node, at, length) {
    const before = node.data.slice(0, at).match(/[^\s-]*$/)[0].length;
    return before + length + node.data.slice(at + length).match(/^[^\s-]*/)[0].length;
  }
  lines.sort((a, b) => a.top - b.top);
  for (let i = 0; i < lines.length; i++) {
    const a = lines[i];
    for (let k = i + 1; k < lines.length && lines[k].top < a.bottom; k++) {
      const b = lines[k];
      if (a.node === b.node) continue;
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide < 3 || high < 0.45 * Math.min(a.bottom - a.top, b.bottom - b.top)) continue;
      if (layer(a.node.parentElement) !== layer(b.node.parentElement)) continue;
      wrong.add(`${name(a.node.parentElement)} ${words(a.node.data)} lies over ${name(b.node.parentElement)} ${words(b.node.data)}`);
    }
  }

  // Boxes beside each other do not lie on each other.
  for (const parent of document.querySelectorAll("body *")) {
    if (parent.childElementCount < 2 || parent.childElementCount > 300 || parent.closest("svg")) continue;
    const boxes = [];
    for (const child of parent.children) {
      const { display, position } = of(child);
      if (display === "inline" || display === "contents" || display === "none" || position === "absolute" || position === "fixed" || of(child).float !== "none" || hidden(child)) continue;
      const rect = child.getBoundingClientRect();
      if (rect.width > 1 && rect.height > 1) boxes.push({ rect, child });
      lowest = Math.max(lowest, shownIn(child).bottom === Infinity ? rect.bottom + scrollY : 0);
    }
    boxes.sort((a, b) => a.rect.top - b.rect.top);
    for (let i = 0; i < boxes.length; i++) {
      for (let k = i + 1; k < boxes.length && boxes[k].rect.top < boxes[i].rect.bottom - 2; k++) {
        const [a, b] = [boxes[i], boxes[k]];
        if (Math.min(a.rect.right, b.rect.right) - Math.max(a.rect.left, b.rect.left) < 2) continue;
        if (layer(a.child) !== layer(b.child)) continue;
        wrong.add(`${name(a.child)} and ${name(b.child)} lie on each other`);
      }
    }
  }
  const end = root.scrollHeight;
  if (end > root.clientHeight + 1 && end > lowest + 80) wrong.add(`the page is ${end} long, and the last thing on it ends at ${Math.round(lowest)}`);
  return [...wrong].slice(0, 12);
}

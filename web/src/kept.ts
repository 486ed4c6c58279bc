import { signal, type Signal } from "@preact/signals";

// kept is a setting of this browser: a text in localStorage, never a secret. Where storage is
// refused it lives as long as the page.
export function kept(name: string, otherwise: string): Signal<string> & { keep(value: string): void } {
  let value = otherwise;
  try {
    value = localStorage.getItem(name) ?? otherwise;
  } catch {
    // no storage
  }
  const setting = signal(value);
  addEventListener("storage", (event) => {
    if (event.key === name) setting.value = event.newValue ?? otherwise;
  });
  return Object.assign(setting, {
    keep(next: string) {
      setting.value = next;
      try {
        localStorage.setItem(name, next);
      } catch {
        // no storage
      }
    },
  });
}

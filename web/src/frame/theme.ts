import { effect } from "@preact/signals";
import { kept } from "../kept";

// theme is auto, light or dark; auto is what the system says.
export const theme = kept("hubcli.theme", "auto");

export const themes = ["auto", "light", "dark"] as const;

effect(() => {
  if (theme.value === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme.value;
});

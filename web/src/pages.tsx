import type { JSX } from "preact";
import { agentsPage } from "./agents";
import { healthPage } from "./health";
import { knowledgePage } from "./knowledge";
import { leasesPage } from "./leases";
import { nowPage } from "./now";
import { roomsPage } from "./rooms";
import { settingsPage } from "./settings";
import { tasksPage } from "./tasks";

// A page of the console: a folder of web/src that exports one of these. The place below its
// first part is its own: /ui/rooms/r_3 is ["r_3"] of rooms.
export interface Page {
  name: string; // the first part of the address
  label: string;
  key: string; // g and then this goes there
  view: (props: { rest: readonly string[] }) => JSX.Element;
}

// pages are those of the navigation, in its order.
export const pages: readonly Page[] = [nowPage, roomsPage, tasksPage, leasesPage, agentsPage, knowledgePage, healthPage, settingsPage];

import type { Page } from "../pages";
import { Link, to } from "../route";
import { Heading } from "../ui/heading";
import { Tabs } from "../ui/tabs";
import { Access } from "./access";
import { Adapters } from "./adapters";
import { Capsules } from "./capsules";
import { Connections } from "./connections";
import { Invites } from "./invites";
import { Notify, Prompts, Surfaces } from "./prompts";
import { OneRoom, Rooms } from "./rooms";
import "./settings.css";
import { Spawns } from "./spawns";

// What the operator sets up: what a person needs most comes first.
function Settings({ rest }: { rest: readonly string[] }) {
  if (rest[0]) {
    return (
      <>
        <p class="up">
          <Link to={to("settings")}>Settings</Link>
        </p>
        <OneRoom key={rest[0]} id={rest[0]} />
      </>
    );
  }
  return (
    <>
      <Heading title="Settings" />
      <Tabs
        label="Settings"
        tabs={[
          { name: "rooms", label: "Rooms", view: () => <Rooms /> },
          { name: "invites", label: "Invites", view: () => <Invites /> },
          { name: "adapters", label: "Adapters", view: () => <Adapters /> },
          { name: "spawns", label: "Spawns", view: () => <Spawns /> },
          { name: "prompts", label: "Permissions", view: () => <Prompts /> },
          { name: "notify", label: "Notifications", view: () => <Notify /> },
          { name: "tools", label: "Tools", view: () => <Surfaces /> },
          { name: "capsules", label: "Capsules", view: () => <Capsules /> },
          { name: "connections", label: "Connections", view: () => <Connections /> },
          { name: "access", label: "Passes", view: () => <Access /> },
        ]}
      />
    </>
  );
}

export const settingsPage: Page = { name: "settings", label: "Settings", key: "s", view: Settings };

import type { Page } from "../pages";
import "./agents.css";
import { AgentList } from "./list";
import { OneAgentView } from "./one";

const Agents = ({ rest }: { rest: readonly string[] }) => (rest[0] ? <OneAgentView key={rest[0]} id={rest[0]} /> : <AgentList />);

export const agentsPage: Page = { name: "agents", label: "Agents", key: "a", view: Agents };

import type { Memory } from "../wire";
import { Line, Text } from "./text";

// MemoryLine is what a room or a project keeps in mind, by its beginning.
export const MemoryLine = ({ memory }: { memory: Memory }) => (
  <li>
    {memory.key && (
      <b>
        <Line>{memory.key}</Line>{" "}
      </b>
    )}
    <span class="clamp">
      <Text>{memory.text}</Text>
    </span>
  </li>
);

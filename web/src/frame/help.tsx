import { groups, letters } from "../keys";
import { Dialog } from "../ui/dialog";

const names: Record<string, string> = { Escape: "Esc", ArrowUp: "↑", ArrowDown: "↓" };

// Help lists the keys that work where the person is, the page's own first.
export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <div class="keymap">
        {groups.value.toReversed().map((group) => (
          <section key={group.name}>
            <h3>{group.name}</h3>
            <dl>
              {group.keys.map((key) => (
                <div key={key.keys}>
                  <dt>
                    {key.keys.split(" ").map((one) => (
                      <kbd key={one}>{names[one] ?? one}</kbd>
                    ))}
                  </dt>
                  <dd>{key.what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <label>
        <input
          type="checkbox"
          checked={letters.value !== "off"}
          onChange={(event) => letters.keep(event.currentTarget.checked ? "on" : "off")}
        />{" "}
        Keys of one letter work. They never do while you type.
      </label>
    </Dialog>
  );
}

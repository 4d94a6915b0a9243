/**
 * Undoes a registration; returned by every `add*` and `register*` of the plugin API. Later calls do nothing. The host calls
 * it when the plugin is deactivated.
 */
export type Undo = () => void;

/** Undoes several registrations as one, the last one first. */
export function undoAll(undos: readonly Undo[]): Undo {
  return () => {
    for (const undo of [...undos].reverse()) undo();
  };
}

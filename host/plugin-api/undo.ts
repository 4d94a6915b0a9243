/**
 * Undoes a registration; returned by every `add*` and `register*` of the plugin API. Later calls do nothing. The host calls
 * it when the plugin is deactivated.
 */
export type Undo = () => void;

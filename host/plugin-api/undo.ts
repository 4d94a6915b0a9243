/**
 * What every `add*` and `register*` of the plugin API returns: takes the registration back.
 * Calling it a second time does nothing. The host calls it itself when the plugin is deactivated.
 */
export type Undo = () => void;

/** Static files: the folder `assets` of a plugin is served below `/assets/<slug>/`, with a content hash for caching. */
export interface AssetsApi {
  /**
   * Absolute path with its hash: `url('settings.js')` -> `/assets/svc/settings.js?v=1a2b3c4d`.
   *
   * @throws Error for a path that leads out of the folder. A file that is missing is a warning of the plugin.
   */
  url(file: string): string;
}

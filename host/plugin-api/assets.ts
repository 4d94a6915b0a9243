/** Static files: the folder `assets` of a plugin is served below `/assets/<slug>/`, with a content hash for caching. */
export interface AssetsApi {
  /** Absolute path with its hash: `url('settings.js')` -> `/assets/svc/settings.js?v=1a2b3c4d`. */
  url(file: string): string;
}

/** Whether the URL is that of a file: others have no hash. */
export function hasHash(url: string): boolean {
  return url.includes('?');
}

/** @param by what names the file, for example `assets.url`. */
export function missingAsset(file: string, by: string): string {
  return `The file '${file}', which ${by} names, is not in the plugin's folder 'assets'.`;
}

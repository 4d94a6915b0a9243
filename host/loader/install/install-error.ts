/** Why a folder or zip was refused, in a sentence for whoever brought it. Nothing was changed. */
export class InstallError extends Error {
  override readonly name = 'InstallError';
}

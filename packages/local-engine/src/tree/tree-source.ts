/** Where the services get the engine's tree from. */
export interface TreeSource {
  /** The tree if it has been built, else null. */
  find(): Promise<string | null>;
  /** The tree, built if necessary; however often it is asked for, it is built once. Fails with BUILD_FAILED. */
  get(): Promise<string>;
}

/** A tree source out of its two ways. */
export function treeSource(find: () => Promise<string | null>, build: () => Promise<string>): TreeSource {
  let building: Promise<string> | null = null;
  return { find, get: () => (building ??= build()) };
}

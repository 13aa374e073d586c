const EVERY_MS = 60_000;

/** Whether something is to be logged: each key once a minute, and at most so many keys. */
export function onceAMinute(
  most: number,
  now: () => number = () => performance.now(),
): (key: string) => boolean {
  const said = new Set<string>();
  let since = now();
  return (key) => {
    if (now() - since >= EVERY_MS) {
      since = now();
      said.clear();
    }
    if (said.has(key) || said.size >= most) return false;
    said.add(key);
    return true;
  };
}

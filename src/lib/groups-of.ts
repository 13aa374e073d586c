/** The values by name, in the order in which names come first. */
export function groupsOf<T>(
  values: Iterable<T>,
  nameOf: (value: T) => string,
): Map<string, readonly [T, ...T[]]> {
  const groups = new Map<string, [T, ...T[]]>();
  for (const value of values) {
    const name = nameOf(value);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [value]);
    else group.push(value);
  }
  return groups;
}

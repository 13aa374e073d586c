/** What belongs to one of something else, each by a key: made when it is asked for first. */
export function kept<Value>(): (of: object, key: string, make: () => Value) => Value {
  const all = new WeakMap<object, Map<string, Value>>();
  return (of, key, make) => {
    const known = all.get(of) ?? new Map<string, Value>();
    all.set(of, known);
    const value = known.get(key) ?? make();
    known.set(key, value);
    return value;
  };
}

/**
 * The same object for somebody whose use of it is noted: `note` is called whenever a property is read, unless it is among these.
 * @param except properties whose use need not be noted
 */
export function noting<T extends object>(of: T, note: () => void, except: readonly (keyof T)[] = []): T {
  return new Proxy(of, {
    get(target, name) {
      if (!except.includes(name as keyof T)) note();
      return Reflect.get(target, name) as unknown;
    },
  });
}

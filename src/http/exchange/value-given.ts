/**
 * The value of a variable, as a list of one; an empty list where it is left out. Left out it has its default, which null does
 * not give it, so they must not be taken for the same.
 */
export function valueGiven(values: Readonly<Record<string, unknown>>, name: string): readonly unknown[] {
  return Object.hasOwn(values, name) ? [values[name]] : [];
}

/**
 * The value of a variable as a list of one, or an empty list if it is omitted: an omitted variable has its default, whereas
 * `null` does not, so the two must be distinguished.
 */
export function valueGiven(values: Readonly<Record<string, unknown>>, name: string): readonly unknown[] {
  return Object.hasOwn(values, name) ? [values[name]] : [];
}

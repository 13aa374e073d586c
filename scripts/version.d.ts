export interface Change {
  readonly kind: string;
  readonly text: string;
}
export const FILES: readonly string[];
export function changeIn(text: string): Change;
export function release(
  files: Readonly<Record<string, string>>,
  changes: readonly Change[],
  date: string,
): { version: string; files: Record<string, string> };

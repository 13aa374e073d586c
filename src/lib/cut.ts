/** The first characters of a text, at most so many UTF-16 units: half of a surrogate pair is left out. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? most - 1 : most);
}

/** The same, which shows that something is missing. */
export function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${cut(text, most)}…`;
}

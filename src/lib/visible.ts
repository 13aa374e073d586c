/** All control characters but tabs and line breaks, and those that change the direction of all that follows. */
const OBEYED = /(?![\t\n])\p{Cc}|[\u2028-\u202e]/gu;

/** Shows what a terminal would obey: a text of somebody else neither moves the cursor nor looks like another line. */
export function visible(text: string): string {
  return text.replaceAll(OBEYED, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

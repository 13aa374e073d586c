/** In the language of the page, whatever that of the browser is. */
export function shownNumber(count: number): string {
  return count.toLocaleString(document.documentElement.lang);
}

/** Such as "1 follower" and "12,000 followers". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${shownNumber(count)} ${count === 1 ? one : many}`;
}

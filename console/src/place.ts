import { useLayoutEffect } from 'react';
import type { Route } from './route.ts';

/**
 * Scroll positions of the pages in the history. Browsers restore a position before the page has been drawn, when it is still
 * too short.
 */
const places = new Map<string, number>();
let count = 0;
let entry = keyOfEntry();

history.scrollRestoration = 'manual';
window.addEventListener('scroll', () => places.set(entry, window.scrollY), { passive: true });
// Runs before anything is drawn: later scroll events belong to the new entry, and the old entry's last one may be missing.
window.addEventListener('hashchange', () => {
  places.set(entry, window.scrollY);
  entry = keyOfEntry();
});

/** Names each history entry when it is first seen. */
function keyOfEntry(): string {
  const state = history.state as { readonly place?: string } | null;
  if (state?.place !== undefined) return state.place;
  count += 1;
  const place = `${performance.timeOrigin.toFixed(0)}-${String(count)}`;
  history.replaceState({ ...state, place }, '');
  return place;
}

/** Name of the current entry. */
export function shownEntry(): string {
  return entry;
}

/** Position at which the current page was left; 0 for a page not seen before. */
export function placeOfEntry(): number {
  return places.get(entry) ?? 0;
}

/** Scrolls a page back to where it was left, and a new one to its top. */
export function useKeptScroll(route: Route): void {
  useLayoutEffect(() => {
    window.scrollTo(0, placeOfEntry());
  }, [route]);
}

import { useLayoutEffect } from 'react';
import type { Route } from './route.ts';

/**
 * How far down each page of the history was scrolled. Browsers put a page back where it was before it has been drawn, when
 * it is still too short for that.
 */
const places = new Map<string, number>();
let count = 0;
let entry = keyOfEntry();

history.scrollRestoration = 'manual';
window.addEventListener('scroll', () => places.set(entry, window.scrollY), { passive: true });
// Before anything is drawn: what that scrolls belongs to the new entry. The last scrolling of the old one may not have been said yet.
window.addEventListener('hashchange', () => {
  places.set(entry, window.scrollY);
  entry = keyOfEntry();
});

/** Each entry of the history is named when it is first seen. */
function keyOfEntry(): string {
  const state = history.state as { readonly place?: string } | null;
  if (state?.place !== undefined) return state.place;
  count += 1;
  const place = `${performance.timeOrigin.toFixed(0)}-${String(count)}`;
  history.replaceState({ ...state, place }, '');
  return place;
}

/** The name of the one that is shown now. */
export function shownEntry(): string {
  return entry;
}

/** Where the page that is shown now was left; 0 for one that was not seen before. */
export function placeOfEntry(): number {
  return places.get(entry) ?? 0;
}

/** Puts a page back where it was left, and begins a new one at its top. */
export function useKeptScroll(route: Route): void {
  useLayoutEffect(() => {
    window.scrollTo(0, placeOfEntry());
  }, [route]);
}

import { useSyncExternalStore } from 'react';

/** In which zone moments are shown. */
export type Zone = 'local' | 'utc';

const KEY = 'fanfare:zone';
const listeners = new Set<() => void>();
let current: Zone = localStorage.getItem(KEY) === 'utc' ? 'utc' : 'local';

export function setZone(zone: Zone): void {
  current = zone;
  if (zone === 'utc') localStorage.setItem(KEY, zone);
  else localStorage.removeItem(KEY);
  for (const listener of listeners) listener();
}

export function useZone(): Zone {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    () => current,
  );
}

/** Such as "2026-11-23 14:02:11 UTC"; without the last word where it is the time of the machine. */
export function momentIn(zone: Zone, at: string): string {
  // Swedish writes dates as ISO 8601 does.
  const text = new Date(at).toLocaleString('sv', zone === 'utc' ? { timeZone: 'UTC' } : {});
  return zone === 'utc' ? `${text} UTC` : text;
}

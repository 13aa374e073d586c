import { useSyncExternalStore } from 'react';
import { Signal } from '../store/signal.ts';

const EVERY_MS = 30_000;
const UNITS = [
  ['second', 1_000],
  ['minute', 60_000],
  ['hour', 3_600_000],
  ['day', 86_400_000],
] as const;

const ticks = new Signal();
let timer: ReturnType<typeof setInterval> | undefined;
let users = 0;
let now = 0;

/** One timer for all that show a time. */
function subscribe(listener: () => void): () => void {
  const leave = ticks.subscribe(listener);
  users += 1;
  if (timer === undefined) {
    now = Date.now();
    timer = setInterval(() => {
      now = Date.now();
      ticks.emit();
    }, EVERY_MS);
  }
  return () => {
    leave();
    users -= 1;
    if (users > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function time(): number {
  return (now ||= Date.now());
}

/**
 * Such as "5 minutes ago", in the language that the page says it is in, else that of the browser. On the server, which does not
 * know the moment: the date.
 */
export function useRelativeTime(at: string, locale?: string): string {
  const current = useSyncExternalStore(subscribe, time, () => 0);
  if (current === 0) return at.slice(0, 10);
  return relativeTime(at, current, locale ?? languageOfPage());
}

function languageOfPage(): string | undefined {
  return typeof document === 'undefined' || document.documentElement.lang === ''
    ? undefined
    : document.documentElement.lang;
}

export function relativeTime(at: string, current: number, locale?: string): string {
  const ago = Math.max(0, current - Date.parse(at));
  const [unit, size] = UNITS.findLast(([, ms]) => ago >= ms) ?? UNITS[0];
  if (unit === 'day' && ago > 30 * size) return new Date(at).toLocaleDateString(locale);
  return new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(-Math.floor(ago / size), unit);
}

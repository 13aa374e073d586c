import { useSyncExternalStore } from 'react';
import { Signal, Usage } from '../store/signal.ts';

const EVERY_MS = 30_000;
const UNITS = [
  ['second', 1_000],
  ['minute', 60_000],
  ['hour', 3_600_000],
  ['day', 86_400_000],
] as const;

const ticks = new Signal();
let timer: ReturnType<typeof setInterval> | undefined;
let now = 0;

/** One timer for all that show a time. */
const usage = new Usage(
  () => {
    now = Date.now();
    timer = setInterval(() => {
      now = Date.now();
      ticks.emit();
    }, EVERY_MS);
  },
  () => {
    clearInterval(timer);
  },
);

function subscribe(listener: () => void): () => void {
  return usage.begin(ticks.subscribe(listener));
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

/** Undefined where it says none, or what is none, such as `en_US`, which would throw. */
export function languageOfPage(): string | undefined {
  try {
    return Intl.getCanonicalLocales(document.documentElement.lang)[0];
  } catch {
    return undefined;
  }
}

/** Undefined where there is none, such as in the engine of React Native. */
function relativeIn(locale: string | undefined): Intl.RelativeTimeFormat | undefined {
  const { RelativeTimeFormat } = Intl as Partial<typeof Intl>;
  return RelativeTimeFormat && new RelativeTimeFormat(locale, { numeric: 'auto' });
}

export function relativeTime(at: string, current: number, locale?: string): string {
  const ago = Math.max(0, current - Date.parse(at));
  const [unit, size] = UNITS.findLast(([, ms]) => ago >= ms) ?? UNITS[0];
  if (unit === 'day' && ago > 30 * size) return new Date(at).toLocaleDateString(locale);
  // Yesterday is the day before this one, and not all that is less than two days ago.
  const passed = unit === 'day' ? startOfDay(current) - startOfDay(at) + size / 2 : ago;
  return relativeIn(locale)?.format(-Math.floor(passed / size), unit) ?? new Date(at).toLocaleString(locale);
}

/** The day of a list: "today", "yesterday", or its date. Empty on the server, which does not know where the reader is. */
export function useDay(at: string): string {
  const current = useSyncExternalStore(subscribe, time, () => 0);
  if (current === 0) return '';
  const locale = languageOfPage();
  const days = Math.round((startOfDay(current) - startOfDay(at)) / UNITS[3][1]);
  const said = days < 2 ? relativeIn(locale)?.format(-Math.max(0, days), 'day') : undefined;
  if (said !== undefined) return said;
  return new Date(at).toLocaleDateString(locale, { weekday: 'long', day: 'numeric', month: 'long' });
}

function startOfDay(at: string | number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}

import { logOriginRefused } from './events.ts';
import type { Logger } from './logger.ts';

const EVERY_MS = 60_000;
/** Anybody can make up origins: beyond this many in a minute nothing is logged. */
const MOST_ORIGINS = 20;
/** No name of a host is longer. */
const MOST_CHARACTERS = 270;

/** A browser only says that a request failed. Logs each origin whose pages are refused once a minute. */
export function createOriginLog(
  log: Logger,
  now: () => number = () => performance.now(),
): (origin: string) => void {
  const said = new Set<string>();
  let since = now();
  return (origin) => {
    if (now() - since >= EVERY_MS) {
      since = now();
      said.clear();
    }
    const shown = origin.slice(0, MOST_CHARACTERS);
    if (said.has(shown) || said.size >= MOST_ORIGINS) return;
    said.add(shown);
    logOriginRefused(log, { origin: shown });
  };
}

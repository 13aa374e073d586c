import { logOriginRefused } from './events.ts';
import type { Logger } from './logger.ts';
import { onceAMinute } from './once-a-minute.ts';

/** Anybody can make up origins: beyond this many in a minute nothing is logged. */
const MOST_ORIGINS = 20;
/** No name of a host is longer. */
const MOST_CHARACTERS = 270;

/** A browser only says that a request failed. Logs each origin whose pages are refused once a minute. */
export function createOriginLog(log: Logger, now?: () => number): (origin: string) => void {
  const isNew = onceAMinute(MOST_ORIGINS, now);
  return (origin) => {
    const shown = origin.slice(0, MOST_CHARACTERS);
    if (isNew(shown)) logOriginRefused(log, { origin: shown });
  };
}

import { epochOf, type LogPosition } from './live-cursor.ts';
import type { LiveEvent, ResyncReason } from './live-log.ts';

/** One event in a log. */
export interface LogEntry {
  readonly at: number;
  readonly sequence: number;
  readonly event: LiveEvent;
}

/** What a log looked like at one moment. */
export interface LogSnapshot {
  /** Its end. */
  readonly head: LogPosition;
  /** What it holds behind the position asked for; empty when that was of another generation. */
  readonly missed: readonly LogEntry[];
}

/**
 * Whether the log can vouch for everything behind a position: null when it can and `missed` is all of it, else the
 * reason why not.
 */
export function findHole(position: LogPosition, snapshot: LogSnapshot): ResyncReason | null {
  const { head, missed } = snapshot;
  if (position.generation !== head.generation)
    return epochOf(position.generation) === epochOf(head.generation) ? 'log-interrupted' : 'log-lost';
  if (position.sequence > head.sequence) return 'invalid-cursor';
  const isUnbroken =
    missed.length === head.sequence - position.sequence &&
    missed.every((entry, index) => entry.sequence === position.sequence + 1 + index);
  return isUnbroken ? null : 'window-passed';
}

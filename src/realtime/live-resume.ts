import { epochOf, NOWHERE, type LogPosition } from './live-cursor.ts';
import type { LiveEvent, ResyncReason } from './live-log.ts';

export interface LogEntry {
  readonly at: number;
  readonly sequence: number;
  readonly event: LiveEvent;
}

export interface LogSnapshot {
  /** Its end. */
  readonly head: LogPosition;
  /** Entries after the requested position; empty if that belongs to another generation. */
  readonly missed: readonly LogEntry[];
}

/** `null` when `missed` contains everything after a position, otherwise the reason why not. */
export function findHole(position: LogPosition, snapshot: LogSnapshot): ResyncReason | null {
  const { head, missed } = snapshot;
  if (position.generation === NOWHERE.generation) return 'invalid-cursor';
  if (position.generation !== head.generation)
    return epochOf(position.generation) === epochOf(head.generation) ? 'log-interrupted' : 'log-lost';
  if (position.sequence > head.sequence) return 'invalid-cursor';
  const isUnbroken =
    missed.length === head.sequence - position.sequence &&
    missed.every((entry, index) => entry.sequence === position.sequence + 1 + index);
  return isUnbroken ? null : 'window-passed';
}

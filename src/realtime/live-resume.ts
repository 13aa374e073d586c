import { epochOf, type LogPosition } from './live-cursor.ts';
import type { LiveEvent, ResyncReason } from './live-log.ts';

export interface LogEntry {
  readonly at: number;
  readonly sequence: number;
  readonly event: LiveEvent;
}

export interface LogSnapshot {
  /** Its end. */
  readonly head: LogPosition;
  /** What it holds behind the position asked for; empty when that was of another generation. */
  readonly missed: readonly LogEntry[];
}

/** Whether a log has everything behind a position: null when `missed` is all of it, else why not. */
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

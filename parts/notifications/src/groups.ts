import type { Action } from '../../../src/domain/action.ts';
import type { ReaderProfile } from '../../../src/domain/viewer.ts';
import {
  notificationKey,
  type NotificationEvent,
  type NotificationGroup,
  type NotificationKind,
} from '../../../src/domain/notification.ts';
import { KINDS_TO, MOST_EVENTS, type Pair } from './store/pairs.ts';

/** A group as the reader is shown it. */
export interface Notification {
  readonly userId: string;
  readonly group: NotificationGroup;
  readonly action: Action | null;
  readonly isSeen: boolean;
  readonly isRead: boolean;
  /** Of the group, if its list is kept. */
  readonly version: string | null;
}

/** A group while its events are found. */
export interface Builder {
  readonly kind: NotificationKind;
  readonly actionId: string | null;
  readonly refId: string | null;
  readonly events: Map<string, NotificationEvent>;
}

/** Whether no event is left out because of who did it. */
export const isPlain = ({ mutes, blocks }: ReaderProfile): boolean =>
  mutes.list.length === 0 && blocks.isWhole && blocks.size === 0;

export function buildersOf(groups: readonly NotificationGroup[]): Map<string, Builder> {
  return new Map(
    groups.map(({ key, events, ...group }) => [
      key,
      { ...group, events: new Map(events.map((event) => [event.id, event])) },
    ]),
  );
}

export const keyOf = ({ kind, actionId }: Pair): string => notificationKey(kind, actionId);

/** Whether the events are comments to the reader. */
export const isTo = (kind: NotificationKind): boolean => KINDS_TO.some((one) => one === kind);

export function groupOf(key: string, { kind, actionId, refId, events }: Builder): NotificationGroup {
  const newest = [...events.values()]
    .sort((a, b) => b.at.getTime() - a.at.getTime() || (a.id < b.id ? 1 : -1))
    .slice(0, MOST_EVENTS);
  return { key, kind, actionId, refId, at: newest[0]?.at ?? new Date(0), events: newest };
}

export function areEqual(some: readonly NotificationEvent[], others: readonly NotificationEvent[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ id, actorId, at }, index) => {
      const other = others[index];
      return other?.id === id && other.actorId === actorId && other.at.getTime() === at.getTime();
    })
  );
}

/** Their events are in order, newest first. */
export function oldestOf(groups: readonly NotificationGroup[]): number {
  const times = groups.flatMap(({ events }) => events.at(-1)?.at.getTime() ?? []);
  return Math.min(...times);
}

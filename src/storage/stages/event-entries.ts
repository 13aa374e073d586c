import { ObjectId, type Document } from 'mongodb';
import type { HostEventType } from '../../domain/host-event.ts';
import type { UnsentEvents } from '../documents/event-documents.ts';
import { literal } from './literal.ts';

/**
 * Most events that one document carries while no worker moves them. Beyond it the newest takes the place of the one before
 * it: the beginning and the present are sent, and a document does not grow without end.
 */
export const MAX_UNSENT = 100;

type Entry = Required<UnsentEvents>['unsent'][number];

/** How writes carry the events that tell of them. Without a host that wants events it adds nothing to any write. */
export interface EventEntries {
  readonly isOn: boolean;
  /** Fields of a new document. */
  inserted(type: HostEventType, at: Date): UnsentEvents;
  /** Fields of an update pipeline. @param when an expression; default: always. */
  staged(type: HostEventType, at: Date, when?: unknown): Document;
  /** The same where one of several events may have happened, and only one. */
  stagedOneOf(
    events: readonly { readonly type: HostEventType; readonly when: unknown }[],
    at: Date,
  ): Document;
  /** Operators of an update that is no pipeline. */
  pushed(
    type: HostEventType,
    at: Date,
  ): { $push?: { unsent: { $each: Entry[]; $slice: number } }; $min?: { unsentAt: Date } };
}

export const NO_EVENTS: EventEntries = {
  isOn: false,
  inserted: () => ({}),
  staged: () => ({}),
  stagedOneOf: () => ({}),
  pushed: () => ({}),
};

export const WITH_EVENTS: EventEntries = {
  isOn: true,
  inserted: (type, at) => ({ unsent: [{ token: new ObjectId(), type, at }], unsentAt: at }),
  staged: (type, at, when = true) => stagedOneOf([{ type, when }], at),
  stagedOneOf,
  pushed: (type, at) => ({
    // An update that is no pipeline can only drop the oldest.
    $push: { unsent: { $each: [{ token: new ObjectId(), type, at }], $slice: -MAX_UNSENT } },
    $min: { unsentAt: at },
  }),
};

function stagedOneOf(
  events: readonly { readonly type: HostEventType; readonly when: unknown }[],
  at: Date,
): Document {
  const unsent = { $ifNull: ['$unsent', '$$REMOVE'] };
  const earliest = { $ifNull: ['$unsentAt', '$$REMOVE'] };
  const appended = (type: HostEventType): Document => ({
    $concatArrays: [
      { $slice: [{ $ifNull: ['$unsent', []] }, MAX_UNSENT - 1] },
      [literal({ token: new ObjectId(), type, at })],
    ],
  });
  return {
    unsent: events.reduceRight<Document>(
      (otherwise, { type, when }) => ({ $cond: [when, appended(type), otherwise] }),
      unsent,
    ),
    unsentAt: {
      $cond: [{ $or: events.map(({ when }) => when) }, { $ifNull: ['$unsentAt', at] }, earliest],
    },
  };
}

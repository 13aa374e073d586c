import { ObjectId, type Document } from 'mongodb';
import type { HostEventType } from '../../domain/host-event.ts';
import type { UnsentEvents } from '../documents/event-documents.ts';
import { literal } from './revision.ts';

/**
 * Upper bound on events in one document while no worker moves them. After that the newest replaces the previous one, so that
 * the first and the current ones are sent, and a document cannot grow without bound.
 */
export const MAX_UNSENT = 100;

type Entry = Required<UnsentEvents>['unsent'][number];

/** Adds events to the writes they describe. Adds nothing when events are not recorded. */
export interface EventEntries {
  readonly isOn: boolean;
  /** Fields of a new document. */
  inserted(type: HostEventType, at: Date): UnsentEvents;
  /** Update pipeline fields. @param at may be an expression. @param when an expression; default: always. */
  staged(type: HostEventType, at: Date | string, when?: unknown): Document;
  /** The same when at most one of several events has happened. */
  stagedOneOf(
    events: readonly { readonly type: HostEventType; readonly when: unknown }[],
    at: Date,
  ): Document;
  /** Operators of an update that is not a pipeline. */
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
    // Without a pipeline, an update can only drop the oldest.
    $push: { unsent: { $each: [{ token: new ObjectId(), type, at }], $slice: -MAX_UNSENT } },
    $min: { unsentAt: at },
  }),
};

function stagedOneOf(
  events: readonly { readonly type: HostEventType; readonly when: unknown }[],
  at: Date | string,
): Document {
  const unsent = { $ifNull: ['$unsent', '$$REMOVE'] };
  const earliest = { $ifNull: ['$unsentAt', '$$REMOVE'] };
  const appended = (type: HostEventType): Document => ({
    $concatArrays: [
      { $slice: [{ $ifNull: ['$unsent', []] }, MAX_UNSENT - 1] },
      [{ token: literal(new ObjectId()), type: literal(type), at }],
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

import { createHmac } from 'node:crypto';
import type { UserId } from '../../domain/action.ts';
import type { ErasureSubject } from '../../domain/erasure.ts';
import { pseudonymFrom } from '../../domain/pseudonym.ts';
import { namesIn } from '../../descriptors/names.ts';
import { ACTION_TRACES, anonymisedValues, withoutSubject } from './anonymise-actions.ts';
import type { ActionDocument, InteractionDocument, ModerationDocument } from '../documents/documents.ts';
import { idOfStamp } from '../directory/name-stamps.ts';
import type { OffloadRecord, PinRecord } from '../offload/offload-records.ts';
import type { ItemMarkDocument } from '../documents/reader-documents.ts';

const USER_KEY = 'user:';

/** All members that a record may name. */
export function membersIn({ section, document }: OffloadRecord): UserId[] {
  switch (section) {
    case 'actions': {
      const action = document as ActionDocument;
      const { actorId, refIds, audience, names, otherIds, reshares } = action;
      const { concerned = [], formerlyConcerned = [] } = action;
      const keys = [...audience, ...[...concerned, ...formerlyConcerned].map(({ key }) => key)];
      return [
        actorId,
        ...refIds,
        ...keys.flatMap((key) => (key.startsWith(USER_KEY) ? [key.slice(USER_KEY.length)] : [])),
        ...(names ?? []).map(idOfStamp),
        ...(otherIds ?? []),
        ...(reshares ?? []).map(({ by }) => by),
      ];
    }
    case 'interactions':
      return [(document as InteractionDocument).actorId];
    case 'itemMarks':
    case 'bookmarks':
      return [(document as ItemMarkDocument)._id.userId];
    case 'moderationLog':
      return [(document as ModerationDocument).by];
    case 'pins':
      return [(document as PinRecord).refId];
  }
}

/**
 * Members erased since a file was written, with their pseudonyms. Deterministic per file, so that the whole file uses the
 * same ones, even after an interrupted attempt; without the file nobody can tell whose they are.
 */
export function erasedSubjects(
  erased: readonly UserId[],
  records: readonly OffloadRecord[],
  salt: string,
): ErasureSubject[] {
  return erased.map((memberId) => ({
    memberId,
    pseudonym: pseudonymFrom(memberId, createHmac('sha256', salt).update(memberId).digest('hex')),
    names: [
      ...new Set(
        records.flatMap(({ section, document }) =>
          section === 'actions' ? namesIn(document as ActionDocument, memberId) : [],
        ),
      ),
    ],
  }));
}

/** The record as the erasure would have left it; `null`: the erasure would have deleted it. */
export function anonymiseRecord(record: OffloadRecord, subject: ErasureSubject): OffloadRecord | null {
  const { section, document } = record;
  const { memberId, pseudonym } = subject;
  switch (section) {
    case 'actions':
      return { ...record, document: anonymiseAction(document as ActionDocument, subject) };
    case 'interactions': {
      const interaction = document as InteractionDocument;
      if (interaction.actorId !== memberId) return record;
      const { text: _text, data: _data, replayKeys: _replayKeys, ...rest } = interaction;
      const key = interaction._id.toHexString();
      return { ...record, document: { ...rest, actorId: pseudonym, key } };
    }
    case 'itemMarks':
    case 'bookmarks':
      return (document as ItemMarkDocument)._id.userId === memberId ? null : record;
    case 'moderationLog': {
      const { by, reason, ...rest } = document as ModerationDocument;
      return {
        ...record,
        document: { ...rest, by: by === memberId ? pseudonym : by, reason: withoutSubject(reason, subject) },
      };
    }
    case 'pins':
      return (document as PinRecord).refId === memberId ? null : record;
  }
}

function anonymiseAction(document: ActionDocument, subject: ErasureSubject): ActionDocument {
  const { memberId, pseudonym } = subject;
  const { reshares, pullRefIds } = document;
  const isInReshares = reshares?.some(({ by }) => by === memberId) ?? false;
  if (!isInReshares && !ACTION_TRACES.some(({ isIn }) => isIn(document, memberId))) return document;
  const { idempotencyKey, ...rest } = document;
  return {
    ...rest,
    ...anonymisedValues(document, subject),
    ...(idempotencyKey === undefined || document.actorId === memberId ? {} : { idempotencyKey }),
    ...(pullRefIds === undefined
      ? {}
      : { pullRefIds: pullRefIds.map((refId) => (refId === memberId ? pseudonym : refId)) }),
    ...(reshares === undefined
      ? {}
      : { reshares: reshares.map(({ by, at }) => ({ by: by === memberId ? pseudonym : by, at })) }),
  };
}

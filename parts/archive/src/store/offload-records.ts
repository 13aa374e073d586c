import { createHash, createHmac } from 'node:crypto';
import { BSON, ObjectId, type Document } from 'mongodb';
import { namesIn } from '../../../../src/descriptors/names.ts';
import type { ActionId, UserId } from '../../../../src/domain/action.ts';
import { type ErasureSubject, pseudonymFrom } from '../../../../src/domain/erasure.ts';
import { belongingsIn, belongingTo, type Belongings } from '../../../../src/storage/belongings.ts';
import type { Collections } from '../../../../src/storage/database/mongo.ts';
import type { Declaration } from '../../../../src/storage/documents/declaration.ts';
import type { ActionDocument } from '../../../../src/storage/documents/documents.ts';
import { idsIn, valueAt } from '../../../../src/storage/documents/ids.ts';

/** Pins are part of other documents. */
const PINS = 'pins';

export interface OffloadRecord {
  /** A collection, or `pins`. */
  readonly section: string;
  readonly actionId: ActionId;
  readonly document: Document;
}

export interface PinRecord {
  readonly refId: string;
  readonly actionId: ObjectId;
}

const BATCH = 500;

export function recordText({ section, document }: OffloadRecord): string {
  return `{"in":${JSON.stringify(section)},"doc":${BSON.EJSON.stringify(document, { relaxed: false })}}`;
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

/**
 * A checksum over the documents of some actions, independent of their order, to compare two points in time. Uses bounded
 * memory.
 */
export class OffloadSum {
  #count = 0;
  #mixed = 0n;

  add(record: OffloadRecord): void {
    this.#count += 1;
    this.#mixed ^= createHash('sha256').update(recordText(record)).digest().readBigUInt64LE();
  }

  get value(): string {
    return `${String(this.#count)} ${this.#mixed.toString(16)}`;
  }
}

/** An action with what it refers to. */
export interface Referring {
  readonly _id: ObjectId;
  readonly refIds: readonly string[];
}

/** Reads and changes records as the declarations say. */
export function offloadRecords(declarations: readonly Declaration[]) {
  const belongings = belongingsIn(declarations);
  const withActions = belongings.filter(({ collection }) => collection !== 'actions');
  const sectionOf = (section: string): Belongings | undefined =>
    belongings.find(({ collection }) => collection === section);
  return {
    /** Collections that are offloaded with an action. */
    withActions,

    /** `null`: the line is not a record. */
    recordOf(text: string): OffloadRecord | null {
      let line: Document;
      try {
        line = BSON.EJSON.parse(text, { relaxed: true }) as Document;
      } catch {
        return null;
      }
      const section: unknown = line['in'];
      const document = line['doc'] as Document | null | undefined;
      if (typeof section !== 'string' || typeof document !== 'object' || document === null) return null;
      const path = section === PINS ? 'actionId' : sectionOf(section)?.id;
      const id = path === undefined ? null : valueAt(document, path);
      return id instanceof ObjectId ? { section, actionId: id.toHexString(), document } : null;
    },

    /** All members that a record may name. */
    membersIn({ section, document }: OffloadRecord): UserId[] {
      if (section === PINS) return [(document as PinRecord).refId];
      const { group: _group, ...ids } = sectionOf(section)?.ids ?? {};
      return idsIn(document, ids);
    },

    /** The record as the erasure would have left it; `null`: the erasure would have deleted it. */
    anonymised(record: OffloadRecord, subject: ErasureSubject): OffloadRecord | null {
      if (record.section === PINS)
        return (record.document as PinRecord).refId === subject.memberId ? null : record;
      const document = sectionOf(record.section)?.erased(record.document, subject) ?? null;
      return document === null ? null : { ...record, document };
    },

    /** All documents belonging to these actions, without the actions, in batches. */
    async *belongingsOf(
      { refs }: Collections,
      actions: readonly Referring[],
    ): AsyncGenerator<OffloadRecord[], void, undefined> {
      const ids = actions.map(({ _id }) => _id);
      for (const one of withActions) {
        const { collection: section, id } = one;
        const cursor = refs.db.collection(section).find(belongingTo(one, ids)).batchSize(BATCH);
        try {
          while (await cursor.hasNext())
            yield (cursor.readBufferedDocuments() as Document[]).map((document) => ({
              section,
              actionId: (valueAt(document, id) as ObjectId).toHexString(),
              document,
            }));
        } finally {
          await cursor.close();
        }
      }
      yield pinsOf(await pinning(refs, actions), actions);
    },
  };
}

function pinning(
  refs: Collections['refs'],
  actions: readonly Referring[],
): Promise<{ _id: string; pinned?: ObjectId[] }[]> {
  const refIds = [...new Set(actions.flatMap((action) => action.refIds))];
  return refs
    .find({ _id: { $in: refIds }, pinned: { $in: actions.map(({ _id }) => _id) } })
    .project<{ _id: string; pinned?: ObjectId[] }>({ pinned: 1 })
    .toArray();
}

function pinsOf(
  refs: readonly { readonly _id: string; readonly pinned?: readonly ObjectId[] }[],
  actions: readonly { _id: ObjectId }[],
): OffloadRecord[] {
  const taken = new Set(actions.map(({ _id }) => _id.toHexString()));
  return refs.flatMap(({ _id: refId, pinned = [] }) =>
    pinned.flatMap((actionId) =>
      taken.has(actionId.toHexString())
        ? [{ section: PINS, actionId: actionId.toHexString(), document: { refId, actionId } }]
        : [],
    ),
  );
}

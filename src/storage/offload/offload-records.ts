import { createHash } from 'node:crypto';
import { BSON, ObjectId, type Document } from 'mongodb';
import type { ActionId } from '../../domain/action.ts';
import type { ActionDocument } from '../documents/documents.ts';
import type { Collections } from '../database/mongo.ts';

/** Documents that are offloaded with an action, the action first. Pins are part of other documents. */
export const OFFLOAD_SECTIONS = [
  'actions',
  'interactions',
  'itemMarks',
  'bookmarks',
  'moderationLog',
  'pins',
] as const;
export type OffloadSection = (typeof OFFLOAD_SECTIONS)[number];

export interface OffloadRecord {
  readonly section: OffloadSection;
  readonly actionId: ActionId;
  readonly document: Document;
}

export interface PinRecord {
  readonly refId: string;
  readonly actionId: ObjectId;
}

/** Reasons why other collections have nothing to offload. A test checks that each collection is here or above. */
export const NOT_OFFLOADED: Readonly<Record<string, string>> = {
  follows: 'of readers, whatever they are shown',
  members: 'of people',
  refs: 'of things; pins are taken out of them',
  feeds: 'of readers',
  publications:
    'what has an idempotency key leaves its tombstone, under the id that the key stands for; made again from the action where there is none',
  erasures: 'of people',
  hostEvents: 'a log that keeps nothing for long',
  eventOutbox: 'moved to the log within seconds',
  eventState: 'of the log',
  webhookReceivers: 'of the log',
  webhookDeliveries: 'of the log',
  scores: 'made again, of the last day alone',
  rankings: 'of the installation',
  secrets: 'of the installation',
  feedEpochs: 'of the installation',
  readerStamps: 'of the installation',
  directoryStamps: 'of the installation',
  erasedTenants: 'of the installation',
  schema: 'of the installation',
  processes: 'of the installation',
  writeProbes: 'of the installation',
};

const BATCH = 500;

export function recordText({ section, document }: OffloadRecord): string {
  return `{"in":${JSON.stringify(section)},"doc":${BSON.EJSON.stringify(document, { relaxed: false })}}`;
}

/** `null`: the line is not a record. */
export function recordOf(text: string): OffloadRecord | null {
  let line: Document;
  try {
    line = BSON.EJSON.parse(text, { relaxed: true }) as Document;
  } catch {
    return null;
  }
  const section = OFFLOAD_SECTIONS.find((name) => name === line['in']);
  const document = line['doc'] as Document | null | undefined;
  if (section === undefined || typeof document !== 'object' || document === null) return null;
  const actionId = actionIdOf(section, document);
  return actionId === null ? null : { section, actionId, document };
}

function actionIdOf(section: OffloadSection, document: Document): ActionId | null {
  const id: unknown = {
    actions: document['_id'] as unknown,
    itemMarks: (document['_id'] as Document | undefined)?.['actionId'] as unknown,
    bookmarks: (document['_id'] as Document | undefined)?.['actionId'] as unknown,
    interactions: document['actionId'] as unknown,
    moderationLog: document['actionId'] as unknown,
    pins: document['actionId'] as unknown,
  }[section];
  return id instanceof ObjectId ? id.toHexString() : null;
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

/** All documents belonging to these actions, without the actions, in batches. */
export async function* belongingsOf(
  collections: Pick<Collections, 'interactions' | 'itemMarks' | 'bookmarks' | 'moderationLog' | 'refs'>,
  actions: readonly Pick<ActionDocument, '_id' | 'refIds'>[],
): AsyncGenerator<OffloadRecord[], void, undefined> {
  const ids = { $in: actions.map(({ _id }) => _id) };
  const { interactions, itemMarks, bookmarks, moderationLog, refs } = collections;
  const cursors = [
    ['interactions', interactions.find({ actionId: ids })],
    ['itemMarks', itemMarks.find({ '_id.actionId': ids })],
    ['bookmarks', bookmarks.find({ '_id.actionId': ids })],
    ['moderationLog', moderationLog.find({ actionId: ids })],
  ] as const;
  for (const [section, cursor] of cursors) {
    cursor.batchSize(BATCH);
    try {
      while (await cursor.hasNext())
        yield (cursor.readBufferedDocuments() as Document[]).map((document) => ({
          section,
          actionId: actionIdOf(section, document) ?? '',
          document,
        }));
    } finally {
      await cursor.close();
    }
  }
  yield pinsOf(await pinning(refs, actions), actions);
}

function pinning(
  refs: Collections['refs'],
  actions: readonly Pick<ActionDocument, '_id' | 'refIds'>[],
): Promise<{ _id: string; pinned?: ObjectId[] }[]> {
  const refIds = [...new Set(actions.flatMap((action) => action.refIds))];
  return refs
    .find({ _id: { $in: refIds }, pinned: { $in: actions.map(({ _id }) => _id) } })
    .project<{ _id: string; pinned?: ObjectId[] }>({ pinned: 1 })
    .toArray();
}

function pinsOf(
  refs: readonly { readonly _id: string; readonly pinned?: readonly ObjectId[] }[],
  actions: readonly Pick<ActionDocument, '_id'>[],
): OffloadRecord[] {
  const taken = new Set(actions.map(({ _id }) => _id.toHexString()));
  return refs.flatMap(({ _id: refId, pinned = [] }) =>
    pinned.flatMap((actionId) =>
      taken.has(actionId.toHexString())
        ? [{ section: 'pins' as const, actionId: actionId.toHexString(), document: { refId, actionId } }]
        : [],
    ),
  );
}

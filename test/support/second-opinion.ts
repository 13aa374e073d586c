import { BSON, type Db, type Document, MongoClient } from 'mongodb';
import type { Request } from '../../packages/local-engine/src/gateway/wire/request.ts';
import { lineOf } from './command-log.ts';
import {
  amended,
  type Collections,
  documentsOf,
  inserted,
  plain,
  readBy,
  updated,
  valuesAt,
  type Write,
  writesOf,
} from './mingo.ts';
import { startServerDouble } from './router.ts';

/** A command to which the engine and `mingo` have given different answers. */
export interface Difference {
  /** As in the command log. */
  readonly line: string;
  readonly command: string;
  readonly engine: string;
  readonly mingo: string;
}

export interface SecondOpinion extends AsyncDisposable {
  readonly uri: string;
  /** The kinds of commands that both have answered, as lines of the command log. */
  readonly compared: ReadonlyMap<string, number>;
  readonly differences: readonly Difference[];
}

/** More would only repeat the same with other values. */
const MOST_OF_A_KIND = 4;
/** Of larger collections no copy is made for each command. */
const MOST_DOCUMENTS = 400;

/** What the engine did, and what `mingo` does; `null`: it cannot be compared. */
type Opinions = readonly [engine: unknown, mingo: unknown] | null;

/**
 * A server that has each command answered by the engine, and then by `mingo` from the same documents: it knows MongoDB's language, and
 * shares no code with any server. One command at a time, so that nothing changes between.
 */
export async function startSecondOpinion(uri: string): Promise<SecondOpinion> {
  const client = await MongoClient.connect(uri);
  const compared = new Map<string, number>();
  const differences: Difference[] = [];
  let last: Promise<unknown> = Promise.resolve();

  async function compare(
    command: Document,
    { name, db }: Request,
    engine: () => Promise<Buffer>,
  ): Promise<Buffer> {
    const line = lineOf({ commandName: name, command });
    const isKnown =
      line === null || line.includes(OF_ITS_CLOCK) || (compared.get(line) ?? 0) >= MOST_OF_A_KIND;
    const before = isKnown ? null : await copyOf(client.db(db), command);
    const bytes = await engine();
    if (line === null || before === null) return bytes;
    const answer = BSON.deserialize(bytes);
    const after = async (): Promise<Document[] | undefined> =>
      (await copyOf(client.db(db), { [name]: command[name] }))?.get(String(command[name]));
    let opinions: Opinions;
    try {
      opinions =
        answer['ok'] !== 1
          ? null
          : name in { find: 1, aggregate: 1, distinct: 1 }
            ? readBoth(before, command, answer)
            : writeBoth(before.get(String(command[name])) ?? [], await after(), command, answer);
    } catch (error) {
      opinions = ['an answer', String(error)];
    }
    if (opinions === null) return bytes;
    compared.set(line, (compared.get(line) ?? 0) + 1);
    const [ours = '', theirs = ''] = opinions.map((opinion) => JSON.stringify(opinion));
    if (ours !== theirs)
      differences.push({ line, command: JSON.stringify(plain(command)), engine: ours, mingo: theirs });
    return bytes;
  }

  const double = await startServerDouble(uri, (command, request, engine) => {
    if (!request.wantsReply || OF_CONNECTIONS.test(request.name)) return Promise.resolve(null);
    const turn = last.then(() =>
      COMPARED.has(request.name)
        ? compare({ ...command, ...sequencesOf(request) }, request, engine)
        : engine(),
    );
    last = turn.catch(() => undefined);
    return turn;
  });
  return {
    uri: double.uri,
    compared,
    differences,
    async [Symbol.asyncDispose]() {
      await double[Symbol.asyncDispose]();
      await client.close();
    },
  };
}

/** Each server has a time of its own. */
const OF_ITS_CLOCK = '$$NOW';
/** Change nothing, and may wait. */
const OF_CONNECTIONS = /^(?:hello|ismaster|sasl\w+|ping|endSessions)$/i;
const COMPARED = new Set(['find', 'aggregate', 'distinct', 'update', 'delete', 'findAndModify']);

function sequencesOf({ sequences }: Request): Document {
  return Object.fromEntries(
    [...sequences].map(([name, bytes]) => {
      const documents: Document[] = [];
      for (let at = 0; at < bytes.length; at += bytes.readInt32LE(at))
        documents.push(BSON.deserialize(bytes.subarray(at, at + bytes.readInt32LE(at))));
      return [name, documents];
    }),
  );
}

/** All documents of the collections that a command names; `null`: there are too many. */
async function copyOf(db: Db, command: Document): Promise<Collections | null> {
  const names = new Set([String(Object.values(command)[0]), ...namedIn(command['pipeline'])]);
  const copies = new Map<string, Document[]>();
  for (const name of names) {
    const documents = await db
      .collection(name)
      .find()
      .limit(MOST_DOCUMENTS + 1)
      .toArray();
    if (documents.length > MOST_DOCUMENTS) return null;
    copies.set(
      name,
      documents.map((document) => plain(document) as Document),
    );
  }
  return copies;
}

function namedIn(pipeline: unknown): string[] {
  if (!Array.isArray(pipeline)) return [];
  return (pipeline as readonly Document[]).flatMap(({ $lookup, $unionWith }) => {
    const of = ($lookup ?? $unionWith) as Document | undefined;
    return of === undefined ? [] : [String(of['from'] ?? of['coll']), ...namedIn(of['pipeline'])];
  });
}

/** The same for the same documents, in whatever order these and their fields are. */
function asSet(documents: readonly unknown[], hasSets = false): unknown[] {
  return documents
    .map((document) => normal(document, hasSets))
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

function normal(value: unknown, hasSets: boolean): unknown {
  if (Array.isArray(value)) return hasSets ? asSet(value, true) : value.map((each) => normal(each, false));
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, each]) => [name, normal(each, hasSets)]));
}

/** The manual leaves open in which order these have what they make. */
const SETS = /"\$(?:addToSet|setUnion|setDifference)"/;

/** Fields that hold what a `$lookup` found without sorting it: the manual leaves its order open, too. */
function joinedIn(pipeline: unknown): string[] {
  if (!Array.isArray(pipeline)) return [];
  return (pipeline as readonly Document[]).flatMap(({ $lookup, $unionWith }) => {
    const join = $lookup as Document | undefined;
    const isSorted = ((join?.['pipeline'] as Document[] | undefined) ?? []).some((stage) => '$sort' in stage);
    return [
      ...(join === undefined || isSorted ? [] : [String(join['as'])]),
      ...joinedIn(($unionWith as Document | undefined)?.['pipeline']),
    ];
  });
}

function withSets(document: Document, names: ReadonlySet<string>): Document {
  const fields = Object.entries(document).map(([name, value]): [string, unknown] => [
    name,
    names.has(name) && Array.isArray(value) ? asSet(value) : value,
  ]);
  return Object.fromEntries(fields);
}

function readBoth(before: Collections, command: Document, answer: Document): Opinions {
  const asked = amended(plain(command)) as Document;
  const documents = before.get(String(Object.values(command)[0])) ?? [];
  if ('distinct' in command) {
    const values = documentsOf(documents, asked['query']).flatMap((each) =>
      valuesAt(each, String(asked['key'])),
    );
    return [asSet(plain(answer['values']) as unknown[]), asSet([...new Set(values)])];
  }
  const { id, firstBatch } = answer['cursor'] as { readonly id: BSON.Long; readonly firstBatch: Document[] };
  if (Number(id) !== 0) return null;
  const hasSets = SETS.test(JSON.stringify(asked));
  const joined = new Set(joinedIn(asked['pipeline']));
  const inAnyOrder = (found: Document[]): unknown[] =>
    asSet(
      found.map((one) => withSets(one, joined)),
      hasSets,
    );
  const ours = inAnyOrder(plain(firstBatch) as Document[]);
  const { limit, skip, ...others } = asked;
  if (limit === undefined || skip !== undefined) return [ours, inAnyOrder(readBy(documents, before, asked))];
  const { sort, projection } = others;
  const found = readBy(documents, before, { ...others, projection: undefined });
  const { first, tied } = upTo(Number(limit), found, (sort ?? {}) as Document);
  const projected = (some: Document[]): unknown[] => inAnyOrder(readBy(some, before, { projection }));
  // Of those that tie a server may give any.
  const given = new Set(ours.map((document) => JSON.stringify(document)));
  const theirs = projected(tied).filter((document) => given.has(JSON.stringify(document)));
  return [
    [Math.min(Number(limit), found.length), ours],
    [ours.length, asSet([...projected(first), ...theirs])],
  ];
}

/** Of sorted documents: those that come first, whatever ties are decided, and those that tie for the last places. */
function upTo(
  limit: number,
  sorted: Document[],
  sort: Document,
): { readonly first: Document[]; readonly tied: Document[] } {
  const keyOf = (document: Document): string =>
    JSON.stringify(Object.keys(sort).map((path) => valuesAt(document, path)));
  const last = sorted[limit - 1];
  if (last === undefined) return { first: sorted, tied: [] };
  const key = keyOf(last);
  const tied = sorted.filter((document) => keyOf(document) === key);
  return { first: sorted.slice(0, sorted.indexOf(tied[0] ?? last)), tied };
}

/** What a collection holds after a command: as the engine has it, and as `mingo` makes it of what was there before. */
function writeBoth(
  before: Document[],
  after: Document[] | undefined,
  command: Document,
  answer: Document,
): Opinions {
  // Who has lost a race for a key tries again.
  if (after === undefined || answer['writeErrors'] !== undefined) return null;
  const asked = amended(plain(command)) as Document;
  const changed = new Set(changedIds(before, after));
  let documents = before;
  for (const write of writesOf(asked)) documents = written(documents, write, changed, after);
  const hasSets = SETS.test(JSON.stringify(asked));
  return [asSet(after, hasSets), asSet(documents, hasSets)];
}

const idOf = (document: Document): string => JSON.stringify(document['_id']);

function changedIds(before: Document[], after: Document[]): string[] {
  const known = new Map(before.map((document) => [idOf(document), JSON.stringify(normal(document, false))]));
  const left = new Set(after.map(idOf));
  return [
    ...[...known.keys()].filter((id) => !left.has(id)),
    ...after.filter((one) => known.get(idOf(one)) !== JSON.stringify(normal(one, false))).map(idOf),
  ];
}

function written(
  documents: Document[],
  write: Write,
  changed: ReadonlySet<string>,
  after: Document[],
): Document[] {
  const { filter, update, isForMany, isUpsert } = write;
  const found = documentsOf(documents, filter);
  // Of several the engine may choose any, but for one of those that come first.
  const chosen = isForMany ? found : [firstOf(found, write, changed)].flatMap((one) => one ?? []);
  if (chosen.length === 0 && isUpsert && update !== null) {
    const fresh = inserted(filter, update);
    // An id that the server gave.
    const known = new Set(documents.map(idOf));
    const given = after.find((one) => changed.has(idOf(one)) && !known.has(idOf(one)));
    return [...documents, { _id: given?.['_id'] as unknown, ...fresh }];
  }
  const targets = new Set(chosen);
  return documents.flatMap((document) => {
    if (!targets.has(document)) return [document];
    return update === null ? [] : [updated(document, write)];
  });
}

function firstOf(found: Document[], { sort }: Write, changed: ReadonlySet<string>): Document | undefined {
  const { tied } = upTo(1, readBy(found, new Map(), { sort }), sort ?? {});
  const ids = new Set(tied.map(idOf));
  const first = found.filter((document) => ids.has(idOf(document)));
  return first.find((document) => changed.has(idOf(document))) ?? first[0];
}

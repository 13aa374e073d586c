import { BSON, type Document } from 'mongodb';
import { startServerDouble } from './router.ts';

/**
 * A server that is free in what MongoDB's manual leaves open, and never does what the engine behind it would do: documents
 * whose sort keys are equal, or that are not sorted, come in the opposite order; cursors give one to three documents at a time;
 * what a write of many reports comes in the opposite order.
 * https://www.mongodb.com/docs/manual/reference/method/cursor.sort/#sort-consistency
 */
export function startPermutingServer(uri: string): ReturnType<typeof startServerDouble> {
  const held = new Map<bigint, Held>();
  return startServerDouble(uri, async (command, request, engine) => {
    const own = fromHeld(held, command);
    if (own !== null) return own;
    switch (request.name) {
      case 'find':
      case 'aggregate':
      case 'getMore':
      case 'listIndexes':
      case 'listCollections':
        return permutedCursor(held, command, await engine());
      case 'distinct':
        return permutedLists(await engine(), ['values']);
      case 'insert':
      case 'update':
      case 'delete':
        return request.wantsReply
          ? permutedLists(await engine(), command['ordered'] === false ? ['writeErrors', 'upserted'] : [])
          : null;
      default:
        return null;
    }
  });
}

/** What a client has not fetched yet. */
interface Held {
  readonly ns: string;
  readonly documents: readonly Buffer[];
  readonly atOnce: number;
}

/** Keeps types as they came. */
const AS_IT_IS = { promoteValues: false } as const;
/** No server gives cursors such ids, nor does one of another proxy have them. */
let lastCursor = 2n ** 62n + (BigInt(process.pid) << 32n);

function permutedCursor(held: Map<bigint, Held>, command: Document, answer: Buffer): Buffer {
  const { cursor, ...rest } = BSON.deserialize(answer, { ...AS_IT_IS, fieldsAsRaw: RAW_BATCHES });
  const batch =
    (cursor as Document | undefined)?.['firstBatch'] ?? (cursor as Document | undefined)?.['nextBatch'];
  if (!Array.isArray(batch)) return answer;
  const { id, ns } = cursor as { readonly id: BSON.Long; readonly ns: string };
  const documents = permuted(batch as readonly Buffer[], orderOf(command));
  const name = 'firstBatch' in (cursor as Document) ? 'firstBatch' : 'nextBatch';
  const atOnce = 1 + (documents.length % 3);
  const isSplit =
    id.isZero() && name === 'firstBatch' && command['singleBatch'] !== true && documents.length > atOnce;
  if (!isSplit) return withBatch(rest, { id, ns }, name, documents);
  lastCursor += 1n;
  held.set(lastCursor, { ns, documents: documents.slice(atOnce), atOnce });
  const own = { id: BSON.Long.fromBigInt(lastCursor), ns };
  return withBatch(rest, own, name, documents.slice(0, atOnce));
}

const RAW_BATCHES = { firstBatch: true, nextBatch: true };

function fromHeld(held: Map<bigint, Held>, command: Document): Document | Buffer | null {
  const [of, cursors] = [command['getMore'] as unknown, command['cursors'] as unknown];
  if ('killCursors' in command && Array.isArray(cursors)) {
    const ours = cursors.map(idOf).filter((id) => held.delete(id));
    return ours.length === cursors.length ? { cursorsKilled: cursors } : null;
  }
  const id = of === undefined ? null : idOf(of);
  const mine = id === null ? undefined : held.get(id);
  if (id === null || mine === undefined) return null;
  const { ns, documents, atOnce } = mine;
  const left = documents.slice(atOnce);
  if (left.length === 0) held.delete(id);
  else held.set(id, { ns, documents: left, atOnce });
  const next = left.length === 0 ? BSON.Long.ZERO : BSON.Long.fromBigInt(id);
  return withBatch({ ok: 1 }, { id: next, ns }, 'nextBatch', documents.slice(0, atOnce));
}

function idOf(id: unknown): bigint {
  return BigInt(String(id));
}

/** By what the documents of an answer are sorted: `null`: by nothing, `undefined`: it cannot be seen from them. */
type Order = readonly string[] | null | undefined;

function orderOf(command: Document): Order {
  if ('getMore' in command) return undefined;
  if ('find' in command) {
    const sort = command['sort'] as Document | undefined;
    return sort === undefined ? null : afterProjection(Object.keys(sort), command['projection'] as Document);
  }
  let order: Order = null;
  for (const stage of (command['pipeline'] ?? []) as readonly Document[])
    for (const [name, of] of Object.entries(stage)) order = afterStage(order, name, of as Document);
  return order;
}

function afterStage(order: Order, name: string, of: Document): Order {
  switch (name) {
    case '$sort':
      return Object.keys(of);
    case '$group':
    case '$unionWith':
      return null;
    case '$match':
    case '$limit':
      return order;
    case '$project':
      return afterProjection(order, of);
    case '$addFields':
    case '$set':
      return without(order, Object.keys(of));
    case '$unset':
      return without(order, [of].flat().map(String));
    case '$lookup':
      return without(order, [String(of['as'])]);
    default:
      return order === null ? null : undefined;
  }
}

function without(order: Order, changed: readonly string[]): Order {
  const hits = (path: string): boolean =>
    changed.some((name) => name === path || path.startsWith(`${name}.`) || name.startsWith(`${path}.`));
  return order?.some(hits) === true ? undefined : order;
}

function afterProjection(order: Order, projection: Document | undefined): Order {
  const fields = Object.entries(projection ?? {}).filter(([name]) => name !== '_id');
  if (fields.length === 0 || order === null || order === undefined) return order;
  const isOfWhole = fields.every(([, shown]) => shown === 0 || shown === false);
  if (isOfWhole)
    return without(
      order,
      fields.map(([name]) => name),
    );
  const kept = new Set([
    '_id',
    ...fields.flatMap(([name, shown]) => (shown === 1 || shown === true ? [name] : [])),
  ]);
  return order.every((path) => kept.has(path) || kept.has(path.split('.')[0] ?? '')) ? order : undefined;
}

function permuted(documents: readonly Buffer[], order: Order): readonly Buffer[] {
  if (order === undefined) return documents;
  if (order === null) return documents.toReversed();
  const ties: Buffer[][] = [];
  let last: string | undefined;
  for (const bytes of documents) {
    const key = keyOf(BSON.deserialize(bytes, AS_IT_IS), order);
    if (key !== undefined && key === last) ties.at(-1)?.unshift(bytes);
    else ties.push([bytes]);
    last = key;
  }
  return ties.flat();
}

/** What is missing sorts as null. `undefined`: a list is among the keys; which of its elements counts is not looked for. */
function keyOf(document: Document, order: readonly string[]): string | undefined {
  const values: unknown[] = [];
  for (const path of order) {
    let at: unknown = document;
    for (const name of path.split('.')) {
      at = (at as Document | undefined | null)?.[name] ?? null;
      if (Array.isArray(at)) return undefined;
    }
    values.push(at);
  }
  return BSON.EJSON.stringify(values, { relaxed: true });
}

function permutedLists(answer: Buffer, names: readonly string[]): Buffer | Document {
  const parsed = BSON.deserialize(answer, AS_IT_IS);
  const lists = names.flatMap((name) => {
    const list: unknown = parsed[name];
    return Array.isArray(list) && list.length > 1 ? [[name, list.toReversed()] as const] : [];
  });
  return lists.length === 0 ? answer : { ...parsed, ...Object.fromEntries(lists) };
}

/** Written byte by byte: a document that is read and written again may have its keys in another order. */
function withBatch(
  rest: Document,
  cursor: { readonly id: BSON.Long; readonly ns: string },
  name: string,
  documents: readonly Buffer[],
): Buffer {
  const list = embedded(documents.map((bytes, n) => [String(n), 3, bytes]));
  const head = Buffer.from(BSON.serialize(cursor)).subarray(4, -1);
  const inner = embedded([[name, 4, list]], head);
  return embedded([['cursor', 3, inner]], Buffer.from(BSON.serialize(rest)).subarray(4, -1));
}

function embedded(
  elements: readonly (readonly [name: string, type: number, bytes: Buffer])[],
  before = Buffer.alloc(0),
): Buffer {
  const parts = elements.flatMap(([name, type, bytes]) => [Buffer.of(type), Buffer.from(`${name}\0`), bytes]);
  const body = Buffer.concat([before, ...parts]);
  const length = Buffer.alloc(4);
  length.writeInt32LE(body.length + 5);
  return Buffer.concat([length, body, Buffer.of(0)]);
}

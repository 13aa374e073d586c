import { Aggregator as WholeAggregator, Context } from 'mingo';
import { Aggregator } from 'mingo/aggregator';
import * as operators from 'mingo/operators/update';
import { Query } from 'mingo/query';
import type { Options, PipelineOperator } from 'mingo/types';
import { BSON, type Document, ObjectId } from 'mongodb';

// MongoDB's language by `mingo`, which shares no code with any server, with what it needs to answer as MongoDB does.

/**
 * All operators, as operators are given them. Given anything else, `mingo` copies some hundred of them for each query, which takes
 * longer than to answer it.
 */
function allOperators(): OperatorOptions {
  let given: OperatorOptions | undefined;
  const $see: PipelineOperator = (...all) => {
    given = all[2] as OperatorOptions;
    return all[0];
  };
  new WholeAggregator([{ $see: {} }], { context: Context.init({ pipeline: { $see } }) }).run([]);
  if (given === undefined) throw new Error('mingo gives operators nothing');
  return given;
}

type OperatorOptions = NonNullable<Parameters<typeof operators.$set>[2]>;

const WRITING = allOperators();
const READING = WRITING as Partial<Options>;

/** Tells whether documents match. */
export function queryOf(filter: Document): Query {
  return new Query(filter, READING);
}

/** May change what is in the documents, unless it only chooses among them. */
export function aggregated(documents: Document[], pipeline: Document[]): Document[] {
  return new Aggregator(pipeline, READING).run(documents);
}

/** Of what a database has: dates are never changed. */
export function copied<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copied) as T;
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const copy: Document = {};
  for (const name of Object.keys(value)) copy[name] = copied((value as Document)[name] as unknown);
  return copy as T;
}

/** Ids and bytes are texts for `mingo`, which begin like these. */
export const ID_MARK = '\uffffid:';
export const BYTES_MARK = '\ufffebytes:';

export type Collections = ReadonlyMap<string, Document[]>;

/** Ids as text that sorts behind other text: `mingo` knows no types of BSON. What is undefined is left out. */
export function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (value instanceof ObjectId) return ID_MARK + value.toHexString();
  if (value instanceof BSON.Long) return value.toNumber();
  if (value instanceof BSON.Binary) return BYTES_MARK + value.toString('hex');
  if (Array.isArray(value)) return value.map((each: unknown) => plain(each) ?? null);
  const fields: Document = {};
  // The driver keeps an order to sort by as a map.
  for (const [name, each] of value instanceof Map ? (value as Map<string, unknown>) : Object.entries(value))
    if (each !== undefined) fields[name] = plain(each);
  return fields;
}

/**
 * In a form on which all agree, where `mingo` has an answer of its own and MongoDB's manual confirms that of the engine:
 * - Every value is greater than null, and so is none that is missing (reference/bson-type-comparison-order). `mingo` compares values of
 *   one type alone.
 * - `$max` and `$min` leave out what is null or missing (reference/operator/aggregation/max). For `mingo` all is null then, and it
 *   takes arrays alone.
 * - `$lookup` with fields and a pipeline joins by both (reference/operator/aggregation/lookup, from 5.0), by any element where the own
 *   field is an array. `mingo` takes the pipeline.
 * - `$set` computes all of its fields from the document before it (reference/operator/aggregation/set). In an object within, `mingo`
 *   computes them one after the other.
 * @param now what `$$NOW` is
 */
export function amended(value: unknown, now?: Date): unknown {
  if (Array.isArray(value)) return value.flatMap((each) => stagesOf(amended(each, now)));
  if (now !== undefined && value === '$$NOW') return now;
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const fields = Object.entries(value).map(
    ([name, each]) =>
      [name, name === '$group' ? grouped(each as Document, now) : amended(each, now)] as const,
  );
  const [[name, of] = ['']] = fields;
  if (fields.length === 1 && Array.isArray(of) && of[1] === null && (name === '$gt' || name === '$lte'))
    return { [name === '$gt' ? '$ne' : '$eq']: [{ $ifNull: [of[0] as unknown, null] }, null] };
  // Ids are texts here, with a mark.
  if (fields.length === 1 && name === '$toString')
    return { $replaceOne: { input: { $toString: of }, find: ID_MARK, replacement: '' } };
  const isGreatest = fields.length === 1 && (name === '$max' || name === '$min');
  if (isGreatest && (Array.isArray(of) || typeof of === 'string')) {
    const given = {
      input: Array.isArray(of) ? (of as unknown[]) : asArray(of),
      as: 'given',
      cond: { $ne: [{ $ifNull: ['$$given', null] }, null] },
    };
    return { [name]: { $filter: given } };
  }
  return Object.fromEntries(fields);
}

/** Accumulators, such as `$max`, have the names of expressions, and take one value of each document. */
function grouped({ _id, ...accumulated }: Document, now?: Date): Document {
  const fields = Object.entries(accumulated).map(([name, accumulator]) => {
    const operands = Object.entries(accumulator as Document).map(
      ([by, of]) => [by, amended(of, now)] as const,
    );
    return [name, Object.fromEntries(operands)] as const;
  });
  return { _id: amended(_id, now), ...Object.fromEntries(fields) };
}

function asArray(path: string): Document {
  return { $cond: [{ $isArray: path }, path, [path]] };
}

function stagesOf(stage: unknown): unknown[] {
  if (typeof stage !== 'object' || stage === null) return [stage];
  const { $lookup, $set, ...others } = stage as { readonly $lookup?: Document; readonly $set?: Document };
  if ($lookup?.['localField'] !== undefined && $lookup['pipeline'] !== undefined) {
    const { localField, foreignField, pipeline, ...join } = $lookup;
    const isJoined = { $match: { $expr: { $in: [`$${String(foreignField)}`, asArray('$$own')] } } };
    const joined = {
      ...join,
      let: { own: `$${String(localField)}` },
      pipeline: [isJoined, ...(pipeline as Document[])],
    };
    return [{ $lookup: joined }];
  }
  if ($set === undefined || Object.keys(others).length > 0) return [stage];
  const names = Object.keys($set);
  if (!names.some((name) => name.includes('.'))) return [stage];
  const apart = names.map((_, n) => `apart${String(n)}`);
  return [
    { $set: Object.fromEntries(names.map((name, n) => [apart[n], $set[name] as unknown])) },
    { $set: Object.fromEntries(names.map((name, n) => [name, `$${String(apart[n])}`])) },
    { $unset: apart },
  ];
}

export function readBy(documents: Document[], before: Collections, asked: Document): Document[] {
  const { filter = {}, sort, skip, limit, projection } = asked;
  const pipeline = (asked['pipeline'] as Document[] | undefined) ?? [
    { $match: filter as Document },
    ...(sort === undefined ? [] : [{ $sort: sort as Document }]),
    ...(skip === undefined ? [] : [{ $skip: skip as number }]),
    ...(limit === undefined ? [] : [{ $limit: limit as number }]),
    ...(projection === undefined || Object.keys(projection as Document).length === 0
      ? []
      : [{ $project: projection as Document }]),
  ];
  const collectionResolver = (name: string): Document[] => before.get(name) ?? [];
  const aggregator = new WholeAggregator(pipeline, { processingMode: 1, collectionResolver });
  return aggregator.run(copied(documents));
}

export function documentsOf(documents: Document[], filter: unknown): Document[] {
  const query = queryOf(filter ?? {});
  return documents.filter((document) => query.test(document));
}

export function valuesAt(document: Document, path: string): unknown[] {
  let found: unknown[] = [document];
  for (const name of path.split('.'))
    found = found.flatMap((value) => ((value as Document | null)?.[name] ?? []) as unknown[]).flat();
  return found;
}

export interface Write {
  readonly filter: Document;
  readonly sort?: Document;
  /** `null`: deletes. */
  readonly update: Document | Document[] | null;
  readonly isForMany: boolean;
  readonly isUpsert: boolean;
  readonly arrayFilters: Document[];
}

export function writesOf(asked: Document): Write[] {
  if ('findAndModify' in asked)
    return [
      writeOf({
        ...asked,
        q: asked['query'] as unknown,
        u: asked['remove'] === true ? null : (asked['update'] as unknown),
      }),
    ];
  const updates = (asked['updates'] as Document[] | undefined)?.map(writeOf);
  return (
    updates ??
    (asked['deletes'] as Document[]).map((one) => writeOf({ ...one, u: null, multi: one['limit'] === 0 }))
  );
}

function writeOf({ q, u, sort, multi, upsert, arrayFilters = [] }: Document): Write {
  return {
    filter: (q ?? {}) as Document,
    ...(sort === undefined ? {} : { sort: sort as Document }),
    update: u as Write['update'],
    ...{ isForMany: multi === true, isUpsert: upsert === true },
    arrayFilters: arrayFilters as Document[],
  };
}

function isReplacement(update: Document | Document[]): boolean {
  return !Array.isArray(update) && Object.keys(update).every((name) => !name.startsWith('$'));
}

export function updated(document: Document, { filter, update, arrayFilters }: Write): Document {
  if (update === null) return document;
  if (isReplacement(update)) return { ...(update as Document), _id: document['_id'] as unknown };
  const one = copied(document);
  if (Array.isArray(update)) return aggregated([one], update)[0] ?? one;
  WRITING.update({ condition: filter, updateConfig: { cloneMode: 'copy' } });
  for (const [name, operands] of Object.entries(update))
    if (name !== '$setOnInsert') operatorOf(name)(operands as Document, arrayFilters, WRITING)(one);
  return one;
}

function operatorOf(name: string): typeof operators.$set {
  const found = (operators as Readonly<Record<string, unknown>>)[name];
  if (typeof found !== 'function') throw new Error(`Unknown update operator ${name}`);
  return found as typeof operators.$set;
}

/** What an upsert inserts: what the filter asks to be equal, and the update of that. */
export function inserted(filter: Document, update: Document | Document[]): Document {
  const base: Document = {};
  for (const [name, value] of Object.entries(filter))
    if (!name.startsWith('$') && !name.includes('.') && !isCondition(value)) base[name] = value;
  if (isReplacement(update)) return { ...base, ...(update as Document) };
  if (Array.isArray(update)) return updated(base, { ...ALL, update });
  const { $setOnInsert = {}, ...own } = update;
  const $set = { ...(own['$set'] as Document | undefined), ...($setOnInsert as Document) };
  return updated(base, { ...ALL, update: { ...own, ...(Object.keys($set).length === 0 ? {} : { $set }) } });
}

const ALL = { filter: {}, isForMany: false, isUpsert: false, arrayFilters: [] };

function isCondition(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && Object.keys(value).some((name) => name.startsWith('$'))
  );
}

import type { Collection, Document } from 'mongodb';
import type { Collections } from '../database/mongo.ts';

/** Work that becomes due by the clock, or that nobody announces: the documents of a collection that match, by an index. */
export interface DueDocuments {
  readonly collection: keyof Collections;
  readonly filter: (now: Date) => Document;
}

export type Wanted = DueDocuments & { readonly name: string };

/**
 * The names of those of which anything is due by then, by the same conditions as the searches of the jobs. One command, which
 * reads at most one entry of each index.
 */
export async function dueAmong(
  collections: Collections,
  wanted: readonly Wanted[],
  now: Date,
): Promise<ReadonlySet<string>> {
  const of = ({ collection }: Wanted) => collections[collection] as unknown as Collection;
  const anyOf = ({ name, filter }: Wanted): Document[] => [
    { $match: filter(now) },
    { $limit: 1 },
    { $project: { _id: 0, kind: { $literal: name } } },
  ];
  const [first, ...others] = wanted;
  if (first === undefined) return new Set();
  const unions = others.map((one) => ({
    $unionWith: { coll: of(one).collectionName, pipeline: anyOf(one) },
  }));
  const found = await of(first)
    .aggregate<{ readonly kind: string }>([...anyOf(first), ...unions])
    .toArray();
  return new Set(found.map(({ kind }) => kind));
}

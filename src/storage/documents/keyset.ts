import type { Document } from 'mongodb';

/** A part of a list: so many entries from a place on. */
export interface Stretch<P> {
  /** Exclusive; `null`: from the first on, or upwards from the last. */
  readonly from: P | null;
  /** Towards the first entry; the nearest comes first then. */
  readonly isUp: boolean;
  /** At least 1. Fewer entries mean the end. */
  readonly limit: number;
}

/** Fields in the order of an index, the last of which tells all entries apart. */
export type Order = Readonly<Record<string, 1 | -1>>;

/** Read upwards, an index gives its entries from the last one on. */
export function turned(order: Order, isUp: boolean): Record<string, 1 | -1> {
  return Object.fromEntries(
    Object.entries(order).map(([field, way]) => [field, isUp === (way === 1) ? -1 : 1]),
  );
}

/**
 * Conditions for what follows a place in an order.
 * @param place the value of each field of the order; `null`: the whole list
 */
export function beyond(order: Order, place: Readonly<Record<string, unknown>> | null): Document {
  if (place === null) return {};
  const fields = Object.keys(order);
  const [first = '', ...rest] = fields;
  const strictly = (field: string): Document => ({
    [field]: { [order[field] === 1 ? '$gt' : '$lt']: place[field] },
  });
  if (rest.length === 0) return strictly(first);
  return {
    // Follows from the other conditions, but lets the index be entered at the place.
    [first]: { [order[first] === 1 ? '$gte' : '$lte']: place[first] },
    $or: [
      strictly(first),
      ...rest.map((field, n) => ({
        ...Object.fromEntries(rest.slice(0, n).map((before) => [before, place[before]])),
        ...strictly(field),
      })),
    ],
  };
}

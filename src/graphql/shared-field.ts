import type { GraphQLField, GraphQLNamedType } from 'graphql';

/**
 * How far a field is equal for all viewers. `same`: its value depends only on its object, its arguments, the locale and
 * current names, and never on the viewer; fields below decide for themselves. `inside`: the object is personal but never
 * null, and may contain shared fields. Absent: depends on the viewer, or on data that changes independently of its object,
 * such as the number of followers. Unmarked fields are never shared.
 */
export interface Sharing {
  readonly shared?: 'same' | 'inside';
  /** Types in which the field is personal nevertheless, because their global id contains the viewer. */
  readonly ownIn?: readonly string[];
  /** The resolver uses only its object and is synchronous: it can be called without executing the operation. */
  readonly isPlain?: boolean;
}

export const SHARED = { shared: 'same' } as const satisfies Sharing;
export const HOLDS_SHARED = { shared: 'inside', isPlain: true } as const satisfies Sharing;
export const PLAIN = { isPlain: true } as const satisfies Sharing;

/** Whether the field's value in this type can be shown to other viewers, or contains such values. */
export function isShared(type: GraphQLNamedType, { extensions }: GraphQLField<unknown, unknown>): boolean {
  const { shared, ownIn = [] } = extensions as Sharing;
  return shared !== undefined && !ownIn.includes(type.name);
}

/** Extension of a type: its shared fields are rendered once for each of its objects. */
export interface RenderedOnce<T> {
  readonly keyOf: (source: T) => string;
  /** Changes with whatever they depend on beside current names; `null`: the object is not recognised when it is read again. */
  readonly versionOf: (source: T) => number | string | null;
  /** The members whose names they may show. */
  readonly idsIn: (source: T) => readonly string[];
}

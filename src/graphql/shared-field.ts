import type { GraphQLField, GraphQLNamedType } from 'graphql';

/**
 * How far a field is the same for all viewers. `same`: its value follows from its object, its arguments, the locale and
 * what people and things are called now, never from who asks; fields below it speak for themselves. `inside`: the object is
 * the viewer's own, and always there, but may hold fields that are the same. Absent: it depends on the viewer, or on what
 * changes without its object, such as the number of followers. What is not marked is never shared.
 */
export interface Sharing {
  readonly shared?: 'same' | 'inside';
  /** Types in which the field is the viewer's own nevertheless: those whose global id names the viewer. */
  readonly ownIn?: readonly string[];
  /** Its resolver goes by its object alone, and answers at once: it can be asked without executing anything. */
  readonly isPlain?: boolean;
}

export const SHARED = { shared: 'same' } as const satisfies Sharing;
export const HOLDS_SHARED = { shared: 'inside', isPlain: true } as const satisfies Sharing;
/** The viewer's own, and plain. */
export const PLAIN = { isPlain: true } as const satisfies Sharing;

/** Whether what the field gives in this type may be shown to other viewers, or holds what may. */
export function isShared(
  type: Pick<GraphQLNamedType, 'name'>,
  { extensions }: Pick<GraphQLField<unknown, unknown>, 'extensions'>,
): boolean {
  const { shared, ownIn = [] } = extensions as Sharing;
  return shared !== undefined && !ownIn.includes(type.name);
}

import type { StoredDescriptor } from '../domain/action.ts';
import { nameIn } from '../descriptors/registry.ts';
import type { ReaderSession } from '../services/session/reader-session.ts';
import type { GraphQLContext } from './context.ts';

/** Current name of an id: the label of its ref, else the name of its member. `null`: it has no name. */
export async function liveName(session: ReaderSession, id: string): Promise<string | null> {
  return (await session.refNames.load(id))?.label ?? (await session.members.load(id))?.name ?? null;
}

/** Current name for a copied name in a descriptor; the copy itself if the thing has no name any more. */
export async function liveField(
  context: GraphQLContext,
  stored: StoredDescriptor,
  { idField, name }: { readonly idField: string; readonly name: string },
): Promise<unknown> {
  const id = stored[idField];
  const found =
    (typeof id === 'string' ? await liveName(context.session(), id) : null) ?? stored[name] ?? null;
  return typeof found === 'string' ? nameIn(context.locale, found) : found;
}

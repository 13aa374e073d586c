import type { StoredDescriptor } from '../domain/action.ts';
import type { ReaderSession } from '../services/session/reader-session.ts';

type NameSession = Pick<ReaderSession, 'refNames' | 'members'>;

/** What an id is called now: by the label of its ref, else by the name of its member. Null when nobody named it. */
export async function liveName(session: NameSession, id: string): Promise<string | null> {
  return (await session.refNames.load(id))?.label ?? (await session.members.load(id))?.name ?? null;
}

/** A name that a descriptor holds, as it is now; the copy where nobody names the thing any more. */
export async function liveField(
  session: NameSession,
  stored: StoredDescriptor,
  { idField, name }: { readonly idField: string; readonly name: string },
): Promise<unknown> {
  const id = stored[idField];
  return (typeof id === 'string' ? await liveName(session, id) : null) ?? stored[name] ?? null;
}

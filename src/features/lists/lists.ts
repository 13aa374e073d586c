import { newObjectId } from '../../storage/database/mongo.ts';
import { z } from 'zod';
import type { Core } from '../../core/core.ts';
import { validate } from '../../core/validate.ts';
import { lineSchema } from '../../descriptors/text-schema.ts';
import { idSchema } from '../../descriptors/id-schema.ts';
import { FanfareError } from '../../domain/errors.ts';
import { plainId } from '../../domain/stored-id.ts';
import { MAX_LIST_ENTRIES, MAX_LISTS, type ReaderList } from '../../domain/viewer.ts';
import { announceListChange } from '../../feed/announce.ts';
import { noSuchList } from '../../feed/page/views.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';

export const MAX_LIST_NAME = 100;
/** Refs of one call. */
export const MAX_ADDED = 100;

const nameSchema = z.object({ name: lineSchema(MAX_LIST_NAME) });
const refsSchema = z.object({ refIds: z.array(idSchema).min(1).max(MAX_ADDED) });

/** @throws FanfareError BAD_USER_INPUT, CONFLICT when the reader has too many lists */
export async function createList(
  core: Core,
  session: ReaderSession,
  { name, isExclusive }: Omit<ReaderList, 'id'>,
): Promise<ReaderList> {
  const { userId } = session.identity;
  const list = { id: newObjectId(), ...validate(nameSchema, { name }), isExclusive };
  if (!(await core.readerLists.create(userId, list)))
    throw new FanfareError('CONFLICT', `No more than ${String(MAX_LISTS)} lists can exist: delete one`);
  return list;
}

/** @throws FanfareError BAD_USER_INPUT, NOT_FOUND */
export async function updateList(
  core: Core,
  session: ReaderSession,
  id: string,
  { name, isExclusive }: { readonly name?: string | null; readonly isExclusive?: boolean | null },
): Promise<ReaderList> {
  const { userId } = session.identity;
  const changes = {
    ...(name == null ? {} : validate(nameSchema, { name })),
    ...(isExclusive == null ? {} : { isExclusive }),
  };
  const list =
    Object.keys(changes).length === 0
      ? await requireList(session, id)
      : await core.readerLists.update(userId, id, changes);
  if (list === null) throw noSuchList();
  if (isExclusive != null) await announceListChange(core, [userId], 'list');
  return list;
}

/** What was in it stays followed. Idempotent. */
export async function deleteList(core: Core, session: ReaderSession, id: string): Promise<void> {
  const { userId } = session.identity;
  await core.readerLists.remove(userId, id);
  await announceListChange(core, [userId], 'list');
}

/**
 * Puts refs that the reader follows into a list. All of them, or none.
 * @throws FanfareError BAD_USER_INPUT, NOT_FOUND, CONFLICT for refs that are not followed, or when the list is too long
 */
export async function addToList(
  core: Core,
  session: ReaderSession,
  id: string,
  given: readonly string[],
): Promise<ReaderList> {
  const { userId } = session.identity;
  const { readerLists } = core;
  const refIds = [...new Set(validate(refsSchema, { refIds: [...given] }).refIds)];
  const list = await requireList(session, id);
  const followed = await readerLists.followed(userId, id, refIds);
  const missing = refIds.filter((refId) => !followed.has(refId));
  if (missing.length > 0) {
    const names = missing.map((refId) => JSON.stringify(plainId(refId))).join(', ');
    throw new FanfareError('CONFLICT', `A list contains what one follows; not followed: ${names}`);
  }
  await readerLists.add(userId, id, refIds);
  // Counted afterwards, or calls at the same time would each find room.
  if ((await readerLists.count(userId, id, MAX_LIST_ENTRIES + 1)) > MAX_LIST_ENTRIES) {
    await readerLists.take(
      userId,
      id,
      refIds.filter((refId) => followed.get(refId) === false),
    );
    throw new FanfareError('CONFLICT', `A list contains at most ${String(MAX_LIST_ENTRIES)} refs`);
  }
  await announceListChange(core, [userId], 'list');
  return list;
}

/** Refs that are not in it are ignored. @throws FanfareError BAD_USER_INPUT, NOT_FOUND */
export async function removeFromList(
  core: Core,
  session: ReaderSession,
  id: string,
  given: readonly string[],
): Promise<ReaderList> {
  const { userId } = session.identity;
  const { refIds } = validate(refsSchema, { refIds: [...given] });
  const list = await requireList(session, id);
  await core.readerLists.take(userId, id, refIds);
  await announceListChange(core, [userId], 'list');
  return list;
}

/** `null`: the reader has no such list. */
export async function findList(session: ReaderSession, id: string): Promise<ReaderList | null> {
  const { lists } = await session.profile();
  return lists.find((list) => list.id === id) ?? null;
}

async function requireList(session: ReaderSession, id: string): Promise<ReaderList> {
  const list = await findList(session, id);
  if (list === null) throw noSuchList();
  return list;
}

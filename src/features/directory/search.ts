import { z } from 'zod';
import type { UserId } from '../../domain/action.ts';
import { withoutBlocked } from '../../feed/loads/own-blocks.ts';
import { decodeRow, encodeRow } from '../../domain/cursor.ts';
import { FanfareError } from '../../domain/errors.ts';
import type { Member, Ref } from '../../domain/member.ts';
import { idBeside, plainId } from '../../domain/stored-id.ts';
import { isTrusted } from '../../domain/viewer.ts';
import { idSchema } from '../../descriptors/id-schema.ts';
import { List } from '../../feed/page/list.ts';
import { askedPage } from '../../feed/page/paging.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import type { Core, DirectoryAccess } from '../../core/core.ts';
import type { CountedPage, PageArgs } from '../../core/shapes.ts';
import { validate } from '../../core/validate.ts';
import { MEMBER } from '../../feed/loads/names.ts';
import { refsOf } from './read-directory.ts';
import type { NamePosition, NameQuery } from './store/name-search.ts';

export const MAX_SEARCH_LENGTH = 100;

const textSchema = z
  .string()
  .max(MAX_SEARCH_LENGTH, { error: `Must be at most ${String(MAX_SEARCH_LENGTH)} characters`, abort: true })
  .nullish()
  .transform((text) => text?.trim() ?? '');

export interface SearchArgs extends PageArgs {
  /** Absent or empty: all names. */
  readonly search?: string | null | undefined;
}

/**
 * Described members whose names have all words of a text, the last one as a beginning, in order of name. Three round trips.
 * @throws FanfareError FORBIDDEN, BAD_USER_INPUT, BAD_CURSOR, RATE_LIMITED
 */
export function searchMembers(
  core: Core,
  session: ReaderSession,
  args: SearchArgs,
): Promise<CountedPage<Member>> {
  const { members } = core;
  return search(core, session, args, {
    ...{ name: 'members', type: null },
    find: (query) => members.search(query),
    load: (ids) => session.loadMany(MEMBER, ids),
  });
}

/** The same for refs by the labels with which they are described, or named by actions. @param args.type only those of this type */
export function searchRefs(
  core: Core,
  session: ReaderSession,
  { type, ...args }: SearchArgs & { readonly type?: string | null | undefined },
): Promise<CountedPage<Ref>> {
  const { refs } = core;
  return search(core, session, args, {
    name: 'refs',
    type: type == null ? null : validate(idSchema, type, ['type']),
    find: (query) => refs.search(query),
    // Refs that only actions name are gone with them.
    load: async (ids) => (await refsOf(session, ids)).map((ref) => (ref.label === null ? null : ref)),
  });
}

interface Searched<T> {
  readonly name: string;
  readonly type: string | null;
  readonly find: (query: NameQuery) => Promise<readonly NamePosition[]>;
  /** In the order of the ids; `null`: not shown. */
  readonly load: (ids: readonly string[]) => Promise<readonly (T | null)[]>;
}

interface Found<T> extends NamePosition {
  readonly value: T;
}

async function search<T>(
  { directory }: Core,
  session: ReaderSession,
  args: SearchArgs,
  { name, type, find, load }: Searched<T>,
): Promise<CountedPage<T>> {
  const { identity } = session;
  await admit(directory, session);
  const { userId } = identity;
  const text = validate(textSchema, args.search, ['search']);
  const list = idBeside(userId, JSON.stringify([name, text, type]));
  const found = new List<NamePosition, NamePosition, Found<T>>({
    idOf: ({ id }) => id,
    isAt: (one, { order }) => one.order === order,
    scan: (stretch) => find({ beside: userId, text, type, ...stretch }),
    select: async (found) => {
      const candidates = await withoutBlocked(session, found, ({ id }) => id);
      const values = await load(candidates.map(({ id }) => id));
      return candidates.flatMap((one, index) => {
        const value = values[index] ?? null;
        return value === null ? [] : [{ ...one, value }];
      });
    },
  });
  const page = await found.page({
    page: askedPage(args, (cursor) => positionIn(userId, list, cursor)),
    cursorOf: ({ order, id }) => encodeRow(list, [order, plainId(id)]),
  });
  return { ...page, edges: page.edges.map(({ cursor, node }) => ({ cursor, node: node.value })) };
}

function positionIn(userId: UserId, list: string, cursor: string): NamePosition {
  const [order, id] = decodeRow(list, cursor, ['text', 'text']);
  return { order, id: idBeside(userId, id) };
}

/** @throws FanfareError FORBIDDEN, RATE_LIMITED */
async function admit(directory: DirectoryAccess, { identity }: ReaderSession): Promise<void> {
  if (isTrusted(identity)) return;
  if (!directory.isOpen)
    throw new FanfareError(
      'FORBIDDEN',
      'This requires one of the roles admin, service; DIRECTORY_SEARCH=members lets all members search',
    );
  const msLeft = (await directory.takeSearch?.(identity.userId)) ?? null;
  if (msLeft === null) return;
  const seconds = String(Math.max(1, Math.ceil(msLeft / 1_000)));
  throw new FanfareError('RATE_LIMITED', `Too many searches, try again in ${seconds} s`);
}

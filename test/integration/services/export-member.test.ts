import { expect, test } from 'vitest';
import { jsonLines } from '../../../parts/operators/src/export.ts';
import { CORE_COLLECTIONS } from '../../../src/app/features.ts';
import { memberExport } from '../../../parts/erasure/src/export-member.ts';
import type { ReaderSession } from '../../../src/feed/session/reader-session.ts';
import type { ExportPart } from '../../../src/core/shapes.ts';
import { collect } from '../../support/collect.ts';
import { erase } from '../../support/erasure.ts';
import { REACTION } from '../../support/erasure-traces.ts';
import { CONTACT, DETAILS, ID, NAME, openErasureWorld } from '../../support/erasure-world.ts';
import { openParts, type Parts } from '../../support/parts.ts';

interface Exported extends Readonly<Record<string, unknown>> {
  readonly actions: readonly {
    readonly id: string;
    readonly as: readonly string[];
    readonly actorId: string;
    readonly isDeleted?: boolean;
    readonly descriptor: object;
    readonly moderation?: readonly { readonly reason: string | null }[];
  }[];
}

interface Recorded {
  readonly id: string;
  readonly at: string;
}

async function exported(parts: Parts, session: ReaderSession, memberId = ID): Promise<Exported> {
  const value = await parts.services.memberExport(session, memberId);
  return JSON.parse(JSON.stringify(value)) as Exported;
}

/** Sections that a collection declares. */
const OWN_SECTIONS = CORE_COLLECTIONS.flatMap(({ export: exported }) =>
  'because' in exported ? [] : exported.flatMap((one) => (typeof one === 'string' ? [] : [one.section])),
);

const admin = (parts: Parts) => parts.session('admin', 'admin');

test('exports everything stored about a member', async () => {
  await using world = await openErasureWorld();
  const { parts, traces } = world;
  const data = await exported(parts, admin(parts));
  // Oldest first; those of one millisecond in any order, for which their ids stand.
  const { interactions } = data as unknown as { readonly interactions: Recorded[] };
  expect(interactions.map(({ at }) => at)).toEqual(interactions.map(({ at }) => at).sort());
  interactions.sort((a, b) => (a.id < b.id ? -1 : 1));
  expect(data).toMatchObject({
    format: 'fanfare-member-export/1',
    memberId: ID,
    member: {
      id: ID,
      name: NAME,
      teamId: 't1',
      departmentId: 'd1',
      supervisorId: 'boss',
      ...DETAILS,
      contact: CONTACT,
    },
    ref: { id: ID, type: 'user', label: NAME, ...DETAILS },
    reader: {
      mutes: [
        { kind: 'MEMBER', value: 'bob' },
        { kind: 'PHRASE', value: NAME.toLowerCase(), text: NAME },
      ],
      lastRead: expect.any(String) as string,
      lists: [{ id: expect.any(String) as string, name: NAME, isExclusive: true }],
    },
    followers: 4,
    mutedBy: 2,
    interactions: [
      { kind: 'LIKE' },
      { kind: 'RESHARE', passedOn: expect.any(String) as string },
      { kind: 'COMMENT', text: `Words of ${NAME}`, parentId: null },
      { kind: 'COMMENT', id: traces.comment, text: `Said by ${NAME}`, parentId: null },
      {
        kind: 'COMMENT',
        id: traces.reply,
        text: `Replied by ${NAME}`,
        parentId: expect.any(String) as string,
      },
      { kind: 'REACTION', id: traces.reaction, reaction: REACTION, actionId: traces.read },
    ],
    bookmarks: [{ actionId: world.others.named, at: expect.any(String) as string }],
    supervises: [{ memberId: 'ann' }],
  });
  const time = expect.any(String) as string;
  const { follows, feed, moderation, itemMarks } = data as unknown as Readonly<
    Record<string, readonly { readonly refId: string; readonly actionId: string }[]>
  >;
  const marks = new Map(itemMarks?.map(({ actionId, ...mark }) => [actionId, mark]));
  expect(marks).toEqual(
    new Map<string, object>([
      [world.others.named, { state: 'HIDDEN', at: time }],
      [traces.archived, { state: 'ARCHIVED', at: time }],
      [traces.snoozed, { state: 'SNOOZED', at: time, until: time }],
      [traces.read, { readAt: time }],
      [traces.unread, { isUnread: true }],
    ]),
  );
  expect(itemMarks).toHaveLength(5);
  expect(follows?.map(({ refId }) => refId).sort()).toEqual(
    [traces.assignedTo, 'bob', ID, 'site', 't1'].sort(),
  );
  expect(follows?.find(({ refId }) => refId === traces.assignedTo)).toEqual({
    ...{ refId: traces.assignedTo, active: true, isAssigned: true, lists: [] },
    spans: [{ since: time, until: null, types: ['Custom', 'Posted'] }],
  });
  expect(feed?.length).toBe((await parts.feedStore.page({ userId: ID, limit: 1_000 })).entries.length);
  expect(moderation?.length).toBeGreaterThan(0);
  const notified = (data as unknown as { readonly events: readonly { readonly type: string }[] }).events;
  expect([...new Set(notified.map(({ type }) => type))].sort()).toEqual([
    ...['action.deleted', 'action.hidden', 'action.published', 'action.unhidden', 'follow.closed'],
    ...['follow.opened', 'interaction.recorded', 'item.delivered', 'report.created'],
  ]);
  expect(JSON.stringify(notified)).not.toContain('readers');
  // Whatever is exported as an action is one of theirs or has to do with them, each once.
  const ids = data.actions.map((action) => action.id);
  expect(new Set(ids).size).toBe(ids.length);
  const ways = new Set(data.actions.flatMap((action) => action.as));
  expect([...ways].sort()).toEqual(['ACTOR', 'DESCRIPTOR', 'FORMERLY_NAMED', 'MENTION', 'RECIPIENT', 'REF']);
  const own = data.actions.filter((action) => action.actorId === ID);
  expect(own).toHaveLength(5);
  expect(own.filter((action) => action.isDeleted)).toHaveLength(1);
  expect(JSON.stringify(own)).toContain('The words of the rater');
  const rating = own.find((action) => action.id === world.own.rating);
  expect(rating?.moderation?.map(({ reason }) => reason)).toEqual([`Not again, ${NAME}!`, null]);
  expect(JSON.stringify(rating?.moderation)).not.toContain('admin');
});

test('covers every place that an erasure changes', async () => {
  await using world = await openErasureWorld();
  const { parts } = world;
  const { actions } = await exported(parts, admin(parts));
  const all = await parts.database.collections.actions.find().toArray();
  const holding = all
    .filter((action) => {
      const { actorId, refs, mentions, recipients, descriptor, concerned, formerlyConcerned } = action;
      const named = { actorId, refs, mentions, recipients, descriptor, concerned, formerlyConcerned };
      return JSON.stringify(named).includes(ID);
    })
    .map(({ _id }) => _id.toHexString());
  expect(actions.map(({ id }) => id).sort()).toEqual(holding.sort());
});

test("gives members all of their own data, and what they may see of others' records", async () => {
  await using world = await openErasureWorld();
  const { parts } = world;
  const { action: secret } = await parts.publish({
    actorId: 'ann',
    scope: 'RESTRICTED',
    recipients: ['bob'],
    descriptor: { followed: { followedId: ID, followedName: NAME } },
  });
  await parts.services.hideAction(admin(parts), world.own.post, null);
  const ids = async (session: ReaderSession) =>
    (await exported(parts, session)).actions.map((action) => action.id);
  expect(await ids(admin(parts))).toContain(secret.id);
  const own = await ids(parts.session(ID));
  expect(own).not.toContain(secret.id);
  expect(own).toContain(world.others.restricted);
  expect(own).toContain(world.own.post);
});

test('is for admins and the member', async () => {
  await using parts = await openParts();
  for (const session of [parts.session('bob'), parts.session('svc', 'service')]) {
    await expect(exported(parts, session, 'ann')).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(collect(parts.services.exportMember(session, 'ann'))).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
  }
  await expect(exported(parts, admin(parts), '')).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
});

test('exports empty lists for an unknown and for an erased member', async () => {
  await using world = await openErasureWorld();
  const { parts } = world;
  const { exportedAt: _at, memberId: _id, ...nothing } = await exported(parts, admin(parts), 'nobody');
  expect(nothing).toEqual({
    format: 'fanfare-member-export/1',
    member: null,
    ref: null,
    reader: null,
    followers: 0,
    mutedBy: 0,
    actions: [],
    ...Object.fromEntries(OWN_SECTIONS.map((section) => [section, []])),
    feed: [],
    supervises: [],
    moderation: [],
    events: [],
  });
  await erase(parts, ID);
  expect(await exported(parts, admin(parts))).toMatchObject(nothing);
});

test('rejects an export that is too large for an answer, and names the command', async () => {
  await using world = await openErasureWorld();
  const { parts } = world;
  const dependencies = { ...parts.repositories, feedStore: parts.feedStore };
  await expect(memberExport(dependencies, admin(parts), ID, 1_000)).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('fanfare export --member') as string,
  });
  expect(await memberExport(dependencies, admin(parts), ID, 1_000_000)).toHaveProperty('actions');
});

test('is streamed in parts of limited size, which form one JSON document', async () => {
  await using parts = await openParts();
  for (let from = 0; from < 1_200; from += 400)
    await parts.services.publishActions(
      parts.service,
      Array.from({ length: 400 }, (_, n) => ({
        actorId: ID,
        descriptor: { posted: { postId: `p${String(from + n)}`, text: 'Some words, "quoted"\n' } },
      })),
    );
  const parted = await collect(parts.services.exportMember(admin(parts), ID));
  const sizes = parted.map((part) => ('entries' in part ? part.entries.length : 1));
  expect(Math.max(...sizes)).toBe(500);
  const text = (await collect(jsonLines(parts.services.exportMember(admin(parts), ID)))).join('\n');
  const { exportedAt: _a, ...read } = JSON.parse(text) as Exported;
  const { exportedAt: _b, ...whole } = await exported(parts, admin(parts));
  expect(read).toEqual(whole);
  expect(read.actions).toHaveLength(1_200);
});

test.each<[string, ExportPart[], unknown]>([
  ['one value', [{ section: 'a', value: 1 }], { a: 1 }],
  ['an empty list', [{ section: 'a', entries: [] }], { a: [] }],
  [
    'lists in pieces, between values',
    [
      { section: 'a', value: 'x' },
      { section: 'b', entries: [] },
      { section: 'b', entries: [1, 2] },
      { section: 'b', entries: [{ c: '\n]' }] },
      { section: 'd', value: null },
      { section: 'e', entries: [] },
    ],
    { a: 'x', b: [1, 2, { c: '\n]' }], d: null, e: [] },
  ],
])('writes %s', async (_name, parts, expected) => {
  async function* source(): AsyncGenerator<ExportPart> {
    for (const part of parts) yield await Promise.resolve(part);
  }
  expect(JSON.parse((await collect(jsonLines(source()))).join('\n'))).toEqual(expected);
});

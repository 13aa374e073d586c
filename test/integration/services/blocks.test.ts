import { encodeListId, encodeReportId } from '../../../src/domain/node-ids.ts';
import { eventSourcesRepository } from '../../../parts/events/src/store/event-sources.ts';
import {
  createSourceEventStream,
  execute,
  getNamedType,
  isAbstractType,
  isLeafType,
  isObjectType,
  parse,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql';
import { expect, test } from 'vitest';
import {
  encodeActionId,
  encodeInteractionId,
  encodeMemberId,
  encodeRefId,
} from '../../../src/graphql/global-id.ts';
import { createContext } from '../../../src/graphql/context.ts';
import { runOperation, type Answer } from '../../../src/graphql/run-operation.ts';
import { buildSchema } from '../../../src/app/schema.ts';
import type { Core } from '../../../src/core/core.ts';
import type { Role } from '../../../src/domain/viewer.ts';
import type { ReaderSession } from '../../../src/feed/session/reader-session.ts';
import { openSession } from '../../../src/feed/session/open-session.ts';
import { Ending } from '../../../src/lib/closer.ts';
import { blockMember, unblockMember } from '../../../src/features/blocks/blocks.ts';
import { follow, followMany } from '../../../src/features/follow/follow.ts';
import { commandsOf } from '../../support/commands.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { someOf } from '../../support/seed.ts';
import { rowsOf } from '../../support/tenant-table.ts';
import { READS, WATCHES, writesOf } from '../../support/ways-to-members.ts';

type Tree = Readonly<Record<string, unknown>>;
/** Ann blocks Bob. Each is a side of everything. */
const SIDES = [
  ['ann', 'bob'],
  ['bob', 'ann'],
] as const;
const nameOf = (id: string): string => `Mx ${id.toUpperCase()}NAME`;
const wordsOf = (id: string): string => `wordsof${id}`;
const detailsOf = (id: string): object => ({
  ...{ url: `https://app.example/${wordsOf(id)}`, imageUrl: `https://app.example/${wordsOf(id)}.png` },
});

interface World extends AsyncDisposable {
  /** From now on. */
  block(): Promise<void>;
  readonly parts: Parts;
  readonly schema: GraphQLSchema;
  /** By who did it: their action, and their comment on the action of another. */
  readonly actions: Readonly<Record<string, string>>;
  readonly comments: Readonly<Record<string, string>>;
  /** By whose comment a third member replied to. */
  readonly replies: Readonly<Record<string, string>>;
  /** By who reported: the other's action, comment and the other. */
  readonly reports: Readonly<Record<string, readonly string[]>>;
  run(document: string, userId: string, roles?: readonly Role[]): Promise<Answer<Tree>>;
  /** Each event as a client gets it. */
  watch(document: string, userId: string): AsyncGenerator<Tree, void>;
}

const NOTHING_REPORTED = { actionId: null, interactionId: null, memberId: null, reason: 'spam' };

/** What is not meant for callers. */
const failures: unknown[] = [];

/** Blocked by more than are read whole: of those, each member is asked about. */
const MANY = 150;

async function openWorld(blockers = 0): Promise<World> {
  const parts = await openParts();
  const { services, service } = parts;
  const core: Core = { ...parts.core, directory: { isOpen: true } };
  const schema = await buildSchema();
  const people = ['ann', 'bob', 'cid'];
  await services.upsertMembers(
    service,
    people.map((memberId) => ({
      ...{ memberId, name: nameOf(memberId), data: wordsOf(memberId), ...detailsOf(memberId) },
      ...{ teamId: `t ${wordsOf(memberId)}`, departmentId: `d ${wordsOf(memberId)}` },
      supervisorId: memberId === 'ann' ? 'bob' : 'ann',
    })),
  );
  await services.upsertRefs(service, [
    { id: 'site', type: 'site', label: 'Site' },
    ...people.map((id) => ({
      ...{ id, type: 'person', label: nameOf(id), data: wordsOf(id), ...detailsOf(id) },
    })),
  ]);
  for (const by of ['ann', 'bob'])
    for (const refId of ['site', 'cid', 'ann', 'bob'])
      if (refId !== by) await services.follow(parts.session(by), refId, 0);
  const actions: Record<string, string> = {};
  const comments: Record<string, string> = {};
  const site = [{ id: 'site', type: 'site', label: 'Site' }];
  for (const actorId of people)
    actions[actorId] = (
      await parts.publish({
        ...{ actorId, scope: 'PUBLIC', refs: site, mentions: people.filter((one) => one !== actorId) },
        descriptor: {
          posted: {
            ...{ postId: 'post', postTitle: `T ${wordsOf(actorId)}`, text: wordsOf(actorId) },
            media: [{ url: `https://app.example/${wordsOf(actorId)}.png`, alt: wordsOf(actorId) }],
          },
        },
      })
    ).action.id;
  const shared = actions['cid'] ?? '';
  for (const by of ['ann', 'bob']) {
    const session = () => parts.session(by);
    const comment = { actionId: shared, kind: 'COMMENT', text: wordsOf(by), data: wordsOf(by) };
    comments[by] = (await services.addInteraction(session(), comment)).interaction.id;
    await services.addInteraction(session(), { actionId: shared, kind: 'LIKE' });
    await services.addInteraction(session(), { actionId: shared, kind: 'RESHARE' });
    const theirs = actions[by === 'ann' ? 'bob' : 'ann'] ?? '';
    await services.addInteraction(session(), { actionId: theirs, kind: 'LIKE' });
    await services.bookmark(session(), theirs);
    await services.pinAction(parts.session('service', 'service'), 'site', actions[by] ?? '');
  }
  const replies: Record<string, string> = {};
  for (const to of ['ann', 'bob']) {
    const reply = { actionId: shared, kind: 'COMMENT', text: 'A reply', parentId: comments[to] ?? '' };
    replies[to] = (await services.addInteraction(parts.session('cid'), reply)).interaction.id;
  }
  await parts.fanOut();
  async function* watch(document: string, userId: string): AsyncGenerator<Tree, void> {
    const args = { schema, document: parse(document) };
    const identity = { userId, roles: new Set<Role>(['user']), expiresAt: null };
    const ending = new Ending();
    // As in a server, each event is shown with the session that it was decided with, or with a new one.
    const contextOf = (event: { readonly session?: ReaderSession } = {}) =>
      createContext(core, identity, ending, {
        openSession: () => event.session ?? openSession(core, identity),
      });
    const events = await createSourceEventStream({ ...args, contextValue: contextOf() });
    if (!(Symbol.asyncIterator in events)) throw new Error(JSON.stringify(events));
    for await (const event of events) {
      const { data, errors } = await execute({
        ...args,
        rootValue: event,
        contextValue: contextOf(event as object),
      });
      expect(errors).toBeUndefined();
      yield JSON.parse(JSON.stringify(data)) as Tree;
    }
  }

  const reports: Record<string, string[]> = {};
  for (const [me, them] of SIDES)
    for (const what of [
      { actionId: actions[them] ?? '' },
      { interactionId: comments[them] ?? '' },
      { memberId: them },
    ]) {
      const { id } = await services.report(parts.session(me), { ...NOTHING_REPORTED, ...what });
      (reports[me] ??= []).push(encodeReportId(id));
    }
  return {
    ...{ parts, schema, actions, comments, replies, reports, watch },
    async block() {
      const others = Array.from({ length: blockers }, (_, n) => `blocker${String(n)}`);
      const documents = ['ann', 'bob'].flatMap((userId) =>
        others.map((otherId) => ({ _id: { userId, otherId }, other: new Date(0) })),
      );
      if (documents.length > 0) await parts.core.collections.blocks.insertMany(documents);
      await services.blockMember(parts.session('ann'), 'bob');
    },
    run: (document, userId, roles = ['user']) =>
      runOperation<Tree>(
        schema,
        core,
        {
          document,
          variables: {},
          identity: { userId, roles: new Set(roles), expiresAt: null },
          locale: 'en',
        },
        { isUnavailable: () => false, report: (error) => void failures.push(error) },
      ),
    [Symbol.asyncDispose]: () => parts[Symbol.asyncDispose](),
  };
}

/** Only for staff: an error of theirs would leave the rest without an answer. */
const FOR_STAFF: ReadonlySet<string> = new Set(['Ref.followers']);

/** Fields of texts and ids that show nobody of their own, and why not. Each other one shows a member before the block, and not after it. */
const SHOW_NOBODY: readonly (readonly [RegExp, string])[] = [
  [/^(?!Posted)\w+Descriptor\.|^PostedDescriptor\.(postId|tags|type)$/, 'is withheld with its action'],
  [/^\w+Edge\.cursor$|^PageInfo\.|\.liveCursor$|^FirstUnread\.cursor$/, 'is sealed'],
  [/^(ActionViewer|Interaction|ReactionCount)\.reactions?$/, 'is an emoji'],
  [/^(FanOut|RefRename)\.error$/, 'is for admins'],
  [
    /^(FeedKey|MailState|Mute|NewFeedKey|NotificationPreference|QuietHours|ReaderList|Ticket|Viewer)\.|^Follow\.(types|listIds)$/,
    'is what the viewer has said, or has',
  ],
  [/^(Report\.(id|outcome)|ReportEntry\.)/, 'is what the viewer has reported, and what became of it'],
  [/^FeedItemExplanation\.(leftOutBy|scoreVars)$/, 'has numbers, or names of conditions'],
  [
    /^(DeleteAction|FeedItem)Payload\.|^PublishActionError\./,
    'is the answer to a mutation, which the other table has',
  ],
  [/^Ref\.type$|^View\./, 'is a word of the host'],
  [/^Media\.blurhash$/, 'is a picture'],
];

/** What names somebody after the block too, by an id alone: what was said by others, or by the host. */
const STAYS: ReadonlySet<string> = new Set([
  // Of a third member, as the host has described them.
  'Member.supervisorId',
  // Of a reply by a third member; there is no such comment for the reader.
  'Interaction.parentId',
]);

/**
 * What who is blocked has named themselves, to follow or mute it: for them it is as an id that nobody has,
 * which has a test of its own.
 */
const ECHOED: ReadonlySet<string> = new Set([
  ...['Ref.id', 'Ref.refId', 'Ref.label', 'Member.id', 'Member.memberId', 'Member.name'],
  // Of the list of what they follow.
  ...['RefEdge.cursor', 'PageInfo.startCursor', 'PageInfo.endCursor'],
]);

/** Types that a member can be answered with, whose fields are texts or ids. */
function namingFields(schema: GraphQLSchema): string[] {
  const [query, mutation] = [schema.getQueryType(), schema.getMutationType()];
  if (!isObjectType(query) || !isObjectType(mutation)) throw new Error('There are no such operations');
  const found = new Set<string>();
  const known = new Set<GraphQLNamedType>();
  const walk = (type: GraphQLNamedType): void => {
    if (known.has(type)) return;
    known.add(type);
    if (isAbstractType(type)) for (const one of schema.getPossibleTypes(type)) walk(one);
    if (!isObjectType(type)) return;
    for (const field of Object.values(type.getFields())) {
      const of = getNamedType(field.type);
      if (['String', 'ID', 'JSON'].includes(of.name)) found.add(`${type.name}.${field.name}`);
      if (!isLeafType(of)) walk(of);
    }
  };
  for (const [root, table] of [
    [query, READS],
    [mutation, writesOf(schema)],
  ] as const)
    for (const [name, field] of Object.entries(root.getFields()))
      if (table[name] !== null) walk(getNamedType(field.type));
  return [...found].sort();
}

/** Global ids are base64 of what they name. */
function withDecoded(text: string): string {
  const ids = [...text.matchAll(/[\w+/-]{8,}={0,2}/gu)];
  return [text, ...ids.map(([id]) => Buffer.from(id, 'base64').toString('latin1'))].join(' ');
}

/** Fields whose value has one of the texts. */
function fieldsWith(value: unknown, texts: readonly string[]): string[] {
  if (Array.isArray(value)) return value.flatMap((one: unknown) => fieldsWith(one, texts));
  if (typeof value !== 'object' || value === null) return [];
  const type = String((value as Tree)['__typename']);
  return Object.entries(value).flatMap(([alias, one]: [string, unknown]) => {
    const name = `${type}.${alias.replace(`${type}_`, '')}`;
    const isPlain = [one]
      .flat()
      .every((entry) => typeof entry !== 'object' || !('__typename' in (entry ?? {})));
    if (!isPlain) return fieldsWith(one, texts);
    const text = withDecoded(JSON.stringify(one));
    return texts.some((wanted) => text.includes(wanted)) ? [name] : [];
  });
}

/** A usual run looks at all fields with the few blocks that are read whole, and at all subscriptions with the many. */
const [FEW_FIRST, MANY_FIRST] = [someOf([0, MANY], 1), someOf([MANY, 0], 1)];

test.each(FEW_FIRST)(
  'every field of the API keeps the two sides of a block from each other, and staff from neither (blocked by %i others)',
  async (blockers) => {
    await using world = await openWorld(blockers);
    const { schema } = world;
    const [query, mutation] = [schema.getQueryType(), schema.getMutationType()];
    if (!isObjectType(query) || !isObjectType(mutation)) throw new Error('There are no such operations');
    // A new field has to be decided on here.
    expect(Object.keys(READS).sort()).toEqual(Object.keys(query.getFields()).sort());
    const writes = writesOf(schema);
    expect(Object.keys(writes).sort()).toEqual(Object.keys(mutation.getFields()).sort());
    const { services, session } = world.parts;
    const lists = new Map<string, string>();
    for (const [me] of SIDES) {
      const { id } = await services.createList(session(me), { name: 'Close', isExclusive: false });
      lists.set(me, encodeListId(id));
    }
    const rows = (kind: 'query' | 'mutation', me: string, them: string) => {
      const ids: Readonly<Record<string, string>> = {
        ...{ me, them, list: lists.get(me) ?? '' },
        action: encodeActionId(world.actions[them] ?? ''),
        comment: encodeInteractionId(world.comments[them] ?? ''),
        reply: encodeInteractionId(world.replies[them] ?? ''),
        ...{ member: encodeMemberId(them), ref: encodeRefId(them) },
        shared: encodeActionId(world.actions['cid'] ?? ''),
        ...Object.fromEntries((world.reports[me] ?? []).map((id, index) => [`report${String(index)}`, id])),
      };
      const given = (call: string): string =>
        call.replaceAll(/\$(\w+)/gu, (_, name: string) => ids[name] ?? '');
      const table = Object.entries(kind === 'query' ? READS : writes);
      return table.flatMap(([field, calls]) =>
        rowsOf(schema, kind, { [field]: (calls ?? []).map(given) }, kind === 'query' ? 3 : 2, FOR_STAFF),
      );
    };
    const textsOf = (them: string): string[] => [
      ...[nameOf(them), wordsOf(them), `"${them}"`, `Member:${them}`, `Ref:${them}`],
      ...[world.actions[them] ?? '', world.comments[them] ?? ''],
    ];
    const naming = new Set<string>();
    for (const [me, them] of SIDES)
      for (const { call, document } of rows('query', me, them)) {
        const { data, errors } = await world.run(document, me);
        expect({ call, errors }).toEqual({ call, errors: [] });
        for (const field of fieldsWith(data, textsOf(them))) naming.add(field);
      }
    // A field that names somebody or shows their words has to be looked at below; of any other, the table says why it does not.
    const others = namingFields(schema).filter((field) => !naming.has(field));
    expect(others.filter((field) => !SHOW_NOBODY.some(([pattern]) => pattern.test(field)))).toEqual([]);
    await world.block();
    for (const [me, them] of SIDES)
      for (const kind of ['query', 'mutation'] as const)
        for (const { call, document } of rows(kind, me, them)) {
          const { data } = await world.run(document, me);
          expect(failures).toEqual([]);
          const isEchoed = kind === 'mutation' && me === 'bob' ? ECHOED : new Set();
          const ofThem = fieldsWith(withoutOwnBlocks(data), textsOf(them)).filter(
            (one) => !STAYS.has(one) && !isEchoed.has(one),
          );
          expect({ me, call, ofThem }).toEqual({ me, call, ofThem: [] });
        }
    const [feed] = rowsOf(schema, 'query', { feed: ['feed(first: 9)'] }, 3);
    const seen = JSON.stringify((await world.run(feed?.document ?? '', 'ann', ['user', 'admin'])).data);
    for (const text of [nameOf('bob'), wordsOf('bob')]) expect(seen).toContain(text);
  },
);

test.each(MANY_FIRST)(
  'every subscription keeps the two sides of a block from each other, also in what was under way (blocked by %i others)',
  async (blockers) => {
    await using world = await openWorld(blockers);
    const { schema, parts } = world;
    const { services, session } = parts;
    expect(Object.keys(WATCHES).sort()).toEqual(
      Object.keys(schema.getSubscriptionType()?.getFields() ?? {}).sort(),
    );
    const textsOf = (them: string): string[] => [nameOf(them), wordsOf(them), `"${them}"`, `Member:${them}`];
    const posted = (actorId: string, mentions: readonly string[], text: string) =>
      parts.publish({
        ...{ actorId, scope: 'PUBLIC', mentions, refs: [{ id: 'site', type: 'site', label: 'Site' }] },
        descriptor: { posted: { postId: text, postTitle: text, text } },
      });
    /** Everything of theirs that the other is notified of, or has in their feed. */
    const act = async (): Promise<void> => {
      for (const [me, them] of SIDES) {
        const actionId = world.actions[me] ?? '';
        const comment = { kind: 'COMMENT', text: wordsOf(them) };
        // After the block some of it is refused.
        await Promise.allSettled([
          posted(them, [me], wordsOf(them)),
          services.addInteraction(session(them), { actionId, ...comment }),
          services.addInteraction(session(them), {
            actionId: world.actions['cid'] ?? '',
            ...comment,
            mentions: [me],
          }),
          services.addInteraction(session(them), {
            actionId: world.actions['cid'] ?? '',
            ...comment,
            parentId: world.comments[me] ?? '',
          }),
          services.follow(session(them), me, 0),
        ]);
      }
      await parts.fanOut();
    };
    const thread = world.actions['cid'] ?? '';
    let marks = 0;
    /** A text of a third member, which both are shown behind all that was done before. */
    const mark = async (): Promise<string> => {
      const text = `mark${String((marks += 1))}`;
      await posted('cid', ['ann', 'bob'], text);
      await services.addInteraction(session('cid'), { actionId: thread, kind: 'COMMENT', text });
      await parts.fanOut();
      return text;
    };
    /** Everything up to the one that has the text. */
    const until = async (events: AsyncGenerator<Tree, void>, text: string): Promise<Tree[]> => {
      const seen: Tree[] = [];
      for (;;) {
        const next = await events.next();
        if (next.done === true) throw new Error(`The stream has ended before ${text}`);
        seen.push(next.value);
        const said = JSON.stringify(next.value);
        if (said.includes(text)) return seen;
        // What came up to there is in the list, and perhaps not in the stream.
        if (said.includes('Resync')) text = await mark();
      }
    };
    const watches = await Promise.all(
      SIDES.flatMap(([me, them]) =>
        Object.entries(WATCHES).map(async ([field, call]) => {
          const open = (after: string): AsyncGenerator<Tree, void> =>
            world.watch(
              rowsOf(
                schema,
                'subscription',
                { [field]: [call(after, encodeActionId(thread))] },
                3,
                FOR_STAFF,
              )[0]?.document ?? '',
              me,
            );
          const events = open('');
          const ready = (await events.next()).value as Readonly<Record<string, Tree>>;
          return { me, them, field, open, events, cursor: String(ready[field]?.['cursor']) };
        }),
      ),
    );
    await act();
    const before = await mark();
    for (const { events, field, them } of watches)
      expect([field, fieldsWith(await until(events, before), textsOf(them))]).not.toEqual([field, []]);
    // Under way: in the log, and with readers who watch.
    await act();
    await world.block();
    const resumed = watches.map(({ open, cursor, ...of }) => ({
      ...of,
      events: open(`(after: "${cursor}")`),
    }));
    const all = [...watches, ...resumed];
    const hidden = async (text: string, among = all): Promise<void> => {
      for (const { events, me, field, them } of among) {
        const seen = fieldsWith(await until(events, text), textsOf(them)).filter((one) => !STAYS.has(one));
        expect({ me, field, seen }).toEqual({ me, field, seen: [] });
      }
    };
    // What anybody may watch goes on without the other side.
    const own = all.filter(({ field }) => field === 'feedEvents' || field === 'notificationEvents');
    await hidden('Resync', own);
    await hidden(await mark());
    await act();
    await hidden(await mark());
    for (const { events } of all) await events.return();
  },
);

/** Who blocks somebody sees them in the list of whom they block, and nowhere else. */
function withoutOwnBlocks(data: Tree | null): unknown {
  return JSON.parse(JSON.stringify(data), (name, value: unknown) => (name === 'blocks' ? null : value));
}

test('who blocks sees whom, and who is blocked is not notified', async () => {
  await using world = await openWorld();
  await world.block();
  const viewer = '{ viewer { blocks(first: 9) { edges { node { memberId isBlocked } } } } }';
  const listed = async (userId: string): Promise<unknown> =>
    (await world.run(viewer, userId)).data?.['viewer'];
  expect(await listed('ann')).toEqual({
    blocks: { edges: [{ node: { memberId: 'bob', isBlocked: true } }] },
  });
  expect(await listed('bob')).toEqual({ blocks: { edges: [] } });
  const exported = async (userId: string): Promise<unknown> =>
    (await world.parts.services.memberExport(world.parts.session(userId), userId))['blocks'];
  expect(await exported('ann')).toMatchObject([{ memberId: 'bob' }]);
  expect(await exported('bob')).toEqual([]);
  // Ann has liked Bob's action. Without this he could tell that she blocks him, since he mutes nobody.
  const { services, session } = world.parts;
  const actionId = world.actions['bob'] ?? '';
  const explained = await services.explainNotification(session('bob'), {
    ...{ kind: 'LIKE', actionId, memberId: null },
  });
  expect(explained.withheldBy).toEqual(['NO_EVENT']);
  // The type of an action says that it is there.
  const theirs = await services.explainNotification(session('bob'), {
    ...{ kind: 'MENTION', actionId: world.actions['ann'] ?? '', memberId: null },
  });
  expect(theirs.preferences.map(({ type }) => type)).toEqual([null, null, null]);
  expect(theirs.withheldBy).toEqual(['NO_EVENT', 'NOT_VISIBLE']);
});

test.each([0, MANY])(
  'neither can interact with, reply to, follow, bookmark or report what the other did (blocked by %i others)',
  async (blockers) => {
    await using world = await openWorld(blockers);
    await world.block();
    const { services, session } = world.parts;
    for (const [me, them] of SIDES) {
      const actionId = world.actions[them] ?? '';
      const comment = { actionId: world.actions['cid'] ?? '', kind: 'COMMENT', text: 'x' } as const;
      const refused: readonly (() => Promise<unknown>)[] = [
        () => services.addInteraction(session(me), { actionId, kind: 'LIKE' }),
        () => services.addInteraction(session(me), { ...comment, parentId: world.comments[them] ?? '' }),
        () => services.addInteraction(session('host', 'service'), { actionId, kind: 'LIKE', actorId: me }),
        () => services.bookmark(session(me), actionId),
        () => services.report(session(me), { ...NOTHING_REPORTED, actionId }),
        () => services.report(session(me), { ...NOTHING_REPORTED, memberId: them }),
      ];
      for (const call of refused) await expect(call()).rejects.toMatchObject({ code: 'NOT_FOUND' });
      // Who is blocked is not told that it has no effect.
      const followed = services.follow(session(me), them, null);
      if (me === 'ann') await expect(followed).rejects.toMatchObject({ code: 'NOT_FOUND' });
      else expect((await followed).followerCount).toBe(1);
      const [follow] = await world.parts.core.follows.find(me, [them]);
      expect(follow?.active).toBe(false);
    }
  },
);

test('pages of comments are full and count on without those of the other', async () => {
  await using parts = await openParts();
  const { services, session } = parts;
  const actionId = (await parts.publish({ scope: 'PUBLIC', actorId: 'cid' })).action.id;
  for (let n = 0; n < 12; n += 1)
    await services.addInteraction(session(n % 3 === 0 ? 'ann' : 'bob'), {
      ...{ actionId, kind: 'COMMENT', text: String(n) },
    });
  await services.blockMember(session('bob'), 'ann');
  const read = async (userId: string, first: number): Promise<string[]> => {
    const texts: string[] = [];
    for (let after: string | null = null; ;) {
      const page: Awaited<ReturnType<Parts['services']['listInteractions']>> =
        await services.listInteractions(session(userId), actionId, { first, after });
      texts.push(...page.edges.map(({ node }) => node.text ?? ''));
      if (!page.hasMore) return texts;
      expect(page.edges).toHaveLength(first);
      after = page.end;
    }
  };
  for (const first of [1, 2, 5, 20]) {
    expect(await read('ann', first)).toEqual(['9', '6', '3', '0']);
    expect(await read('bob', first)).toEqual(['11', '10', '8', '7', '5', '4', '2', '1']);
    expect(await read('cid', first)).toHaveLength(12);
  }
});

test.each([0, MANY])(
  'a block that ends shows everything again; both have to end theirs (blocked by %i others)',
  async (blockers) => {
    await using world = await openWorld(blockers);
    await world.block();
    const { services, session } = world.parts;
    const isSeen = async (me: string, them: string): Promise<boolean> =>
      (await services.getAction(session(me), world.actions[them] ?? '')) !== null;
    await services.blockMember(session('bob'), 'ann');
    await services.unblockMember(session('ann'), 'bob');
    expect([await isSeen('ann', 'bob'), await isSeen('bob', 'ann')]).toEqual([false, false]);
    await services.unblockMember(session('bob'), 'ann');
    expect([await isSeen('ann', 'bob'), await isSeen('bob', 'ann')]).toEqual([true, true]);
    await services.unblockMember(session('bob'), 'ann');
    expect(await world.parts.core.collections.blocks.countDocuments({ own: { $exists: true } })).toBe(0);
    expect(await world.parts.core.collections.blocks.countDocuments()).toBe(2 * blockers);
  },
);

test('a page costs the same however many block its reader, and a block changes it at once', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const { services, session } = parts;
  for (const actorId of ['bob', 'cid', 'dan']) {
    await services.follow(session('ann'), actorId, 0);
    await parts.publish({ actorId, scope: 'PUBLIC' });
  }
  await parts.fanOut();
  await services.blockMember(session('eve'), 'ann');
  const actorsOf = async (): Promise<string[]> => {
    const page = await services.readFeed(session('ann'), {});
    return page.edges.map(({ node }) => node.action.actorId).sort();
  };
  const costOf = async (): Promise<string[]> => {
    const commands = await commandsOf(parts.database, actorsOf);
    return commands.map(({ name, collection }) => `${name} ${collection}`);
  };
  const addBlockers = async (from: number, to: number): Promise<void> => {
    await parts.core.feeds.markBlocks(['ann']);
    await parts.core.collections.blocks.insertMany(
      Array.from({ length: to - from }, (_, n) => ({
        ...{ _id: { userId: 'ann', otherId: `blocker${String(from + n)}` }, other: new Date(0) },
      })),
    );
    await parts.core.feeds.renewBlocks(['ann']);
  };
  // Once, to note that the reader is there.
  await actorsOf();
  const costs: string[][] = [];
  for (const [from, to] of [
    [0, 150],
    [150, 3_000],
  ] as const) {
    await addBlockers(from, to);
    costs.push(await costOf(), await costOf());
  }
  // The few that are read whole, and then the actors of what it shows: once for as long as no block changes.
  for (const [number, cost] of costs.entries())
    expect(cost).toEqual(
      number % 2 === 0 ? ['aggregate feeds', 'find blocks', 'find blocks'] : ['aggregate feeds'],
    );
  expect(await actorsOf()).toEqual(['bob', 'cid', 'dan']);
  await services.blockMember(session('bob'), 'ann');
  expect(await actorsOf()).toEqual(['cid', 'dan']);
  await services.unblockMember(session('bob'), 'ann');
  expect(await actorsOf()).toEqual(['bob', 'cid', 'dan']);
});

test('a page that is made while a block begins is not kept', async () => {
  await using parts = await openParts();
  const { services, session, core } = parts;
  await services.follow(session('ann'), 'bob', 0);
  await parts.publish({ actorId: 'bob', scope: 'PUBLIC' });
  await parts.fanOut();
  const isShown = async (): Promise<boolean> =>
    (await services.readFeed(session('ann'), {})).edges.length > 0;
  for (const [by, who] of [
    ['ann', 'bob'],
    ['bob', 'ann'],
  ] as const) {
    const feeds: Core['feeds'] = {
      ...core.feeds,
      async markBlocks(userIds) {
        await core.feeds.markBlocks(userIds);
        for (let reads = 0; reads < 3; reads += 1) expect(await isShown()).toBe(true);
      },
    };
    await blockMember({ ...core, feeds }, session(by), who);
    expect(await isShown()).toBe(false);
    await services.unblockMember(session(by), who);
    expect(await isShown()).toBe(true);
  }
});

test('nobody is notified of a block that was there, or of the end of one that was not', async () => {
  await using parts = await openParts();
  const { services, session, core } = parts;
  const notified: string[] = [];
  const liveLog: Core['liveLog'] = {
    ...core.liveLog,
    watched: (userIds) => Promise.resolve([...userIds]),
    append: (entries) => Promise.resolve(void notified.push(...entries.map(({ userId }) => userId))),
  };
  const telling = { ...core, liveLog };
  const notifiedBy = async (call: Promise<unknown>): Promise<string[]> => {
    await call;
    return notified.splice(0).sort();
  };
  expect(await notifiedBy(unblockMember(telling, session('ann'), 'bob'))).toEqual([]);
  expect(await notifiedBy(blockMember(telling, session('ann'), 'bob'))).toEqual(['ann', 'bob']);
  expect(await notifiedBy(blockMember(telling, session('ann'), 'bob'))).toEqual([]);
  // What only the other blocks is not ended.
  expect(await notifiedBy(unblockMember(telling, session('bob'), 'ann'))).toEqual([]);
  expect(await notifiedBy(unblockMember(telling, session('ann'), 'bob'))).toEqual(['ann', 'bob']);
  expect(await notifiedBy(unblockMember(telling, session('ann'), 'bob'))).toEqual([]);
  expect(await notifiedBy(follow(telling, session('ann'), 'bob', 0))).toContain('bob');
  expect(await notifiedBy(follow(telling, session('ann'), 'bob', 0))).toEqual([]);
  expect(await notifiedBy(followMany(telling, parts.service, [{ followerId: 'ann', refId: 'bob' }]))).toEqual(
    [],
  );
  expect(await services.readBlocks(session('ann'), {})).toMatchObject({ edges: [] });
});

test('a service cannot make members follow each other while there is a block, nor for when it ends', async () => {
  await using parts = await openParts();
  const { services, session } = parts;
  await services.blockMember(session('ann'), 'bob');
  for (const [followerId, refId] of SIDES) {
    expect(
      await services.followMany(parts.service, [
        { followerId, refId },
        { followerId, refId: 'cid' },
      ]),
    ).toBe(2);
    await parts.publish({ actorId: refId, scope: 'PUBLIC' });
  }
  await parts.fanOut();
  await services.unblockMember(session('ann'), 'bob');
  for (const [followerId, refId] of SIDES) {
    const known = await parts.core.follows.find(followerId, [refId, 'cid']);
    expect(known.filter(({ active }) => active).map((one) => one.refId)).toEqual(['cid']);
    expect(await parts.feedOf(followerId)).toEqual([]);
  }
});

test('hosts are not notified of deliveries to who has a block with the actor', async () => {
  await using parts = await openParts({ recordsEvents: true });
  const { services, session } = parts;
  for (const by of ['ann', 'cid']) await services.follow(session(by), 'bob', 0);
  await services.blockMember(session('ann'), 'bob');
  await services.followMany(parts.service, [{ followerId: 'ann', refId: 'bob' }]);
  await parts.publish({ actorId: 'bob', scope: 'PUBLIC', mentions: ['ann', 'cid'] });
  await parts.fanOut();
  const { events } = await eventSourcesRepository(parts.database.collections).read(
    new Date(Date.now() + 1_000),
    100,
  );
  const delivered = events.filter(({ type }) => type === 'item.delivered');
  expect(delivered.flatMap(({ facts }) => facts.readers?.map(({ memberId }) => memberId) ?? [])).toEqual([
    'cid',
  ]);
});

test('blocks at most ten thousand members, oneself never, and keeps the block of an erased member', async () => {
  await using parts = await openParts();
  const { services, session } = parts;
  await expect(services.blockMember(session('ann'), 'ann')).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  const many = Array.from({ length: 9_999 }, (_, n) => ({
    ...{ _id: { userId: 'ann', otherId: `x${String(n)}` }, own: new Date(n) },
  }));
  await parts.core.collections.blocks.insertMany(many);
  // The second time to complete the first, had it been interrupted.
  for (let calls = 0; calls < 2; calls += 1) await services.blockMember(session('ann'), 'bob');
  await expect(services.blockMember(session('ann'), 'cid')).rejects.toMatchObject({ code: 'CONFLICT' });
  const { blocks, feeds } = parts.core;
  const blocksOfAnn = async () => blocks.of('ann', (await feeds.marks('ann')).blocksRev);
  const before = await blocksOfAnn();
  expect(await blocksOfAnn()).toBe(before);
  const subject = { memberId: 'bob', names: [], pseudonym: 'erased:1' };
  while ((await blocks.anonymise(subject, 10, feeds)) > 0);
  // What the process knew of the blocks is not used again.
  expect(await blocksOfAnn()).not.toBe(before);
  const page = await services.readBlocks(session('ann'), { first: 1 });
  expect(page.edges.map(({ node }) => node.userId)).toEqual(['erased:1']);
  expect(await parts.core.collections.blocks.countDocuments({ '_id.userId': 'bob' })).toBe(0);
});

test('an id of who blocks the author stays without a name if the author writes it, and has one if a service does', async () => {
  await using parts = await openParts();
  const { services, session, service } = parts;
  await services.upsertMembers(service, [{ memberId: 'ann', name: 'Ann' }]);
  await services.blockMember(session('ann'), 'bob');
  const refs = [{ id: 'ann', type: 'person', label: 'Called so' }];
  const input = {
    ...{ actorId: 'bob', scope: 'PUBLIC' as const },
    descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: 'p' } },
  };
  for (const [writer, isUnnamed] of [
    [session('bob').identity, true],
    [service, false],
  ] as const) {
    const published = await services.publishAction(writer, { ...input, refs, mentions: ['ann'] });
    expect(published.action.unnamed !== undefined).toBe(isUnnamed);
    const { action } = await services.publishAction(writer, input);
    await services.updateAction(writer === service ? session('job', 'service') : session('bob'), action.id, {
      refs,
      mentions: ['ann'],
    });
    const edited = await services.getAction(session('cid'), action.id);
    expect(edited?.refs.map(({ id }) => id)).toContain('ann');
    expect(edited?.unnamed !== undefined).toBe(isUnnamed);
  }
});

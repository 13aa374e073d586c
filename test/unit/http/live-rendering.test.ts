import {
  execute,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isNonNullType,
  isObjectType,
  parse,
  specifiedRules,
  validate,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLNamedType,
  type GraphQLObjectType,
} from 'graphql';
import { expect, test } from 'vitest';
import type { Action } from '../../../src/domain/action.ts';
import type { NewsfeedItem } from '../../../src/domain/newsfeed-item.ts';
import type { Identity, Role } from '../../../src/domain/viewer.ts';
import { profileOfStranger } from '../../../src/domain/viewer.ts';
import { createContext, type GraphQLContext } from '../../../src/graphql/context.ts';
import { buildSchema } from '../../../src/app/schema.ts';
import { CompiledExecution } from '../../../src/http/execution/compiled-execution.ts';
import { isWritten, LiveRendering, type EventRenderer } from '../../../src/http/execution/live-rendering.ts';
import { DEFAULT_LIMITS } from '../../../src/http/limits/limits.ts';
import type { Core } from '../../../src/core/core.ts';
import { fromByteText, toByteText } from '../../../src/lib/byte-text.ts';
import { openSession } from '../../../src/feed/session/open-session.ts';
import type { ReaderSession } from '../../../src/feed/session/reader-session.ts';
import type { FeedEvent } from '../../../src/core/shapes.ts';
import type { ReaderAction } from '../../../src/storage/documents/reader-action-id.ts';
import type { LoadedFrom } from '../../../src/feed/session/load.ts';
import { seededRandom, type SeededRandom } from '../../support/seeded-random.ts';
import { repeats, SEED } from '../../support/seed.ts';

const schema = await buildSchema();
const ROLES: Readonly<Record<string, readonly Role[]>> = { ann: ['user'], bob: ['user'], root: ['admin'] };
const VIEWERS = Object.keys(ROLES);
const MAX_DEPTH = 6;
/** Left out a variable has its default, null is the language of the reader. */
const LOCALES = [{}, { l: null }, { l: 'en' }];

/** What only some of the fields need. */
const core = {
  followerPages: { read: () => Promise.reject(new Error('Followers cannot be read')) },
} as unknown as Core;

// The viewer's own, without the follows and profiles that it is made from.
const { resharedBy } = (
  schema.getType('NewsfeedItem') as GraphQLObjectType<unknown, GraphQLContext>
).getFields();
if (resharedBy === undefined) throw new Error('There is no such field');
resharedBy.resolve = (_item, _args, context) =>
  Promise.resolve(context.identity().userId === 'bob' ? [{ userId: 'mary' }, { userId: 'ann' }] : []);

const action = (type: string): Action => ({
  id: '0123456789abcdef01234567',
  actorId: 'mary',
  conducted: new Date(1_700_000_000_000),
  recorded: new Date(1_700_000_000_001),
  idempotencyKey: null,
  rev: 1,
  scope: 'PUBLIC',
  audience: ['public'],
  mentions: [],
  recipients: [],
  refs: [
    { id: 'site"1', type: 'site', label: 'Old\u2028name' },
    { id: 'unknown', type: 'site', label: '' },
  ],
  refIds: ['site"1', 'unknown', 'mary'],
  descriptor: {
    ...{ type, tags: ['a', 'ü\n'], applicationId: 'site"1', averageRating: 3.5, applicant: 'X' },
    ...{ raterId: 'mary', raterName: 'Mary', applicantId: 'site"1', applicantName: 'Site' },
    ...{ positionId: 'unknown', positionName: 'Fan', ratingScore: 3.5 },
  },
  groupKey: null,
  version: 2,
  editedAt: null,
  audienceRev: 0,
  ...{ concerned: null, formerlyConcerned: [], givenRefs: null },
  engagement: {
    comments: 1,
    likes: 2,
    reshares: 0,
    reactions: [{ reaction: '👍', count: 1 }],
    lastInteraction: null,
  },
  expiresAt: null,
  isHidden: false,
  isDeleted: false,
  pullRefIds: [],
  reshares: [],
  isBumped: false,
  commentsVersion: 0,
  latest: new Date(1_700_000_000_000),
  fanOut: { state: 'DONE', version: 1, attempts: 1, lane: 'LIVE', delivered: 2, error: null },
});

function sessionOf(identity: Identity): ReaderSession {
  const { userId } = identity;
  const none = (): Promise<[]> => Promise.resolve([]);
  const repositories = {
    actions: { findByIds: none },
    members: {
      find: () => Promise.resolve(null),
      findByIds: (ids: readonly string[]) =>
        Promise.resolve(ids.filter((id) => id === 'mary').map(() => ({ ...member, userId: 'mary' }))),
    },
    refs: {
      findByIds: (ids: readonly string[]) =>
        Promise.resolve(
          ids
            .filter((id) => id === 'site"1')
            .map((refId) => ({ refId, type: 'site', label: 'Site "1"', followerCount: 7 })),
        ),
    },
    details: {
      ofMembers: none,
      ofRefs: (ids: readonly string[]) =>
        Promise.resolve(
          ids.map((refId) => ({ refId, imageUrl: null, url: null, data: { deep: [1] }, pinned: [] })),
        ),
    },
    follows: {
      findPairs: (pairs: readonly { readonly followerId: string; readonly refId: string }[]) =>
        Promise.resolve(pairs.map((pair) => ({ ...pair, active: userId === 'ann', spans: [] }))),
    },
    bookmarks: {
      findPairs: (pairs: readonly ReaderAction[]) => Promise.resolve(userId === 'root' ? pairs : []),
    },
    interactions: {
      own: (pairs: readonly ReaderAction[]) =>
        Promise.resolve(
          pairs.map((pair) => ({ ...pair, kinds: new Set(['LIKE'] as const), reactions: [userId] })),
        ),
      newestOf: () => Promise.reject(new Error('Interactions cannot be read')),
    },
    feeds: { marks: () => Promise.resolve(profileOfStranger(userId)) },
    pulledRefs: { known: () => Promise.resolve(new Set()) },
  };
  return openSession(repositories as unknown as LoadedFrom, identity);
}

const member = {
  name: 'Mary "M" Fanning',
  teamId: 't',
  teamSince: null,
  departmentId: null,
  departmentSince: null,
  supervisorId: 'ann',
};

/** One event as it comes to one viewer. */
function eventFor(viewer: string, shown: Action, kind: 'added' | 'updated'): ExecutionArgs {
  const identity = { userId: viewer, roles: new Set(ROLES[viewer]), expiresAt: null };
  const session = sessionOf(identity);
  const item: NewsfeedItem = {
    userId: viewer,
    actionId: shown.id,
    action: shown,
    relevancy: new Date(1_700_000_000_000 + viewer.length),
    reasons: viewer === 'ann' ? ['FOLLOW', 'MENTION'] : ['FOLLOW'],
    isUnread: viewer !== 'bob',
    state: null,
    until: null,
    lists: [],
  };
  const event = { kind, cursor: `cursor of ${viewer}`, item } as unknown as FeedEvent;
  const contextValue = createContext(core, identity, new AbortController().signal, {
    openSession: () => session,
  });
  return { schema, document: NO_DOCUMENT, rootValue: event, contextValue };
}

const NO_DOCUMENT = parse('{ __typename }');

const SPOKEN =
  '... on FeedItemAdded { spoken: item { action { descriptor { summary(locale: $l) summaryParts(locale: $l) { text } } } } }';

/** Random selections of everything that an event can show. */
class Selections {
  readonly #random: SeededRandom;

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  next(): string {
    const events = schema.getType('FeedEvent');
    if (events === undefined) throw new Error('There are no events');
    const spoken = this.#random.next() < 0.3 ? SPOKEN : '';
    const selection = `${this.#of(events, 0)} ${spoken}`;
    return `subscription ${selection.includes('$l') ? '($l: String = "de")' : ''} { feedEvents { ${selection} } }`;
  }

  #of(type: GraphQLNamedType, depth: number): string {
    if (!isObjectType(type) && !isInterfaceType(type)) throw new Error(`${type.name} has no fields`);
    const fields = Object.values(type.getFields()).filter(
      ({ args }) => !args.some((arg) => isNonNullType(arg.type) && arg.defaultValue === undefined),
    );
    const texts = Array.from({ length: 1 + this.#random.below(5) }, () => {
      const field = this.#random.pick(fields);
      const inner = getNamedType(field.type);
      // One name for several fields now and then: what merges must be of one place.
      const alias = this.#random.next() < 0.2 ? `a${String(this.#random.below(3))}: ` : '';
      const takesLocale = field.args.some(({ name }) => name === 'locale') && this.#random.next() < 0.7;
      if (isLeafType(inner)) return `${alias}${field.name}${takesLocale ? '(locale: $l)' : ''}`;
      const below = depth >= MAX_DEPTH ? '__typename' : this.#of(inner, depth + 1);
      return `${alias}${field.name} { ${below} }`;
    });
    if (this.#random.next() < 0.2) texts.push('__typename');
    if (isInterfaceType(type))
      for (const possible of schema.getPossibleTypes(type))
        if (this.#random.next() < 0.4 || possible.name.startsWith('FeedItem'))
          texts.push(`... on ${possible.name} { ${this.#of(possible, depth + 1)} }`);
    return texts.join(' ');
  }
}

function renderBy(
  renderer: EventRenderer | undefined,
  args: ExecutionArgs,
): ReturnType<EventRenderer['render']> {
  if (renderer === undefined) throw new Error('There is a renderer for every viewer');
  return renderer.render(args.rootValue as FeedEvent, () => args);
}

/** Resolves when nothing that the event is shown by is under way. */
async function prepareBy(renderer: EventRenderer | undefined, args: ExecutionArgs): Promise<void> {
  const isReady = await new Promise<boolean>((resolve) => {
    const wake = (): void => {
      resolve(false);
    };
    if (renderer?.prepare([args.rootValue as FeedEvent], () => args, wake) ?? true) resolve(true);
  });
  if (!isReady) await prepareBy(renderer, args);
}

async function shownTo(args: ExecutionArgs, render: (args: ExecutionArgs) => unknown): Promise<string> {
  const result = (await render(args)) as ExecutionResult;
  return isWritten(result) ? fromByteText(result.bytes) : JSON.stringify(result);
}

interface Comparison {
  readonly type: string;
  readonly kind: 'added' | 'updated';
  /** Of each viewer; absent: none. */
  readonly variables?: readonly object[];
  readonly isPrepared?: boolean;
}

interface Compared {
  readonly shown: string;
  readonly interpreted: string;
  readonly isShared: boolean;
}

/** Shows one event to all viewers, twice, and gives what each was shown beside what the interpreter shows them. */
async function compare(
  document: DocumentNode,
  { type, kind, variables = [], isPrepared = false }: Comparison,
): Promise<Compared[]> {
  const rendering = new LiveRendering(new CompiledExecution({ runsBefore: () => 1 }), DEFAULT_LIMITS);
  const asks = VIEWERS.map((_viewer, index) => ({ document, variableValues: { ...variables[index] } }));
  const renderers = asks.map((asked) => rendering.open({ schema, ...asked }, 'en'));
  const shown = action(type);
  const showTo = async (viewer: string, index: number): Promise<Compared> => {
    const args = { ...eventFor(viewer, shown, kind), ...asks[index] };
    if (isPrepared) await prepareBy(renderers[index], args);
    const result = await renderBy(renderers[index], args);
    const interpreted = await shownTo({ ...eventFor(viewer, { ...shown }, kind), ...asks[index] }, execute);
    const isShared = isWritten(result);
    return {
      shown: isWritten(result) ? fromByteText(result.bytes) : JSON.stringify(result),
      interpreted,
      isShared,
    };
  };
  const first = await Promise.all(VIEWERS.map(showTo));
  return [...first, ...(await Promise.all(VIEWERS.map(showTo)))];
}

test('shows every viewer exactly the bytes of the interpreter', async () => {
  const random = seededRandom(SEED);
  const selections = new Selections(random);
  let shared = 0;
  for (let n = 0; n < repeats(150); n += 1) {
    const text = selections.next();
    const document = parse(text);
    if (validate(schema, document, specifiedRules).length > 0) continue;
    for (const type of ['ApplicationRating', 'NoSuchType']) {
      const kind = n % 2 === 0 ? 'added' : 'updated';
      const variables = VIEWERS.map(() => random.pick(LOCALES));
      const isPrepared = random.next() < 0.5;
      const outcomes = await compare(document, { type, kind, variables, isPrepared });
      for (const { shown, interpreted, isShared } of outcomes) {
        // A result with errors is never shared; compiled functions write it in another order.
        if (interpreted.startsWith('{"data":')) expect(shown, text).toBe(interpreted);
        else expect(JSON.parse(shown), text).toEqual(JSON.parse(interpreted));
        if (isShared) shared += 1;
      }
    }
  }
  expect(shared).toBeGreaterThan(0);
});

const WHOLE = `subscription { feedEvents { __typename cursor ... on FeedItemAdded { item { id relevancy reasons
  action { id actor { name isFollowed } refs { label isFollowed } descriptor { summary } viewer { reactions } } } } } }`;

test('executes shared fields once, and again for another read of the action', async () => {
  const outcomes = await compare(parse(WHOLE), { type: 'ApplicationRating', kind: 'added' });
  expect(outcomes.map(({ isShared }) => isShared)).toEqual([false, true, true, true, true, true]);
  for (const { shown, interpreted } of outcomes) expect(shown).toBe(interpreted);

  const rendering = new LiveRendering(new CompiledExecution(), DEFAULT_LIMITS);
  const [first, second] = [0, 1].map(() => rendering.open({ schema, document: parse(WHOLE) }, 'en'));
  // Equal texts, but parsed twice: they are not taken for the same.
  const results = [
    await renderBy(first, { ...eventFor('ann', action('A'), 'added'), document: parse(WHOLE) }),
    await renderBy(second, { ...eventFor('bob', action('A'), 'added'), document: parse(WHOLE) }),
  ];
  expect(results.map((result) => isWritten(result))).toEqual([false, false]);
});

test('renders once for several viewers that prepare at the same moment, and not for a single one', async () => {
  const selection = `subscription { feedEvents { cursor ... on FeedItemAdded { item { id reasons action { actor { name } } } } } }`;
  const document = parse(selection);
  const rendering = new LiveRendering(new CompiledExecution(), DEFAULT_LIMITS);
  const renderers = VIEWERS.map(() => rendering.open({ schema, document }, 'en'));
  const shown = action('ApplicationRating');
  const args = VIEWERS.map((viewer) => ({ ...eventFor(viewer, shown, 'added'), document }));
  await Promise.all(args.map((one, index) => prepareBy(renderers[index], one)));
  for (const [index, one] of args.entries()) {
    const result = renderBy(renderers[index], one);
    expect(result).toMatchObject({ bytes: await shownTo(one, execute) });
  }

  const alone = { ...eventFor('ann', { ...shown }, 'added'), document };
  await prepareBy(renderers[0], alone);
  expect(isWritten(await renderBy(renderers[0], alone))).toBe(false);
});

test('shares nothing between reads, kinds of events, locales and content variables', async () => {
  const document = parse(
    `subscription ($after: String, $locale: String) { feedEvents(after: $after) { cursor
       ... on FeedItemAdded { item { action { descriptor { summary(locale: $locale) } } } } } }`,
  );
  const shown = action('ApplicationRating');
  const isShared = async (one: {
    readonly locale?: string;
    readonly variables?: object;
    readonly read?: Action;
  }): Promise<boolean> => {
    const rendering = new LiveRendering(new CompiledExecution(), DEFAULT_LIMITS);
    const open = (locale: string, variableValues: object) =>
      rendering.open({ schema, document, variableValues: { ...variableValues } }, locale);
    using first = open('en', { after: 'x', locale: 'de' });
    using other = open(one.locale ?? 'en', one.variables ?? { after: 'y', locale: 'de' });
    await renderBy(first, { ...eventFor('ann', shown, 'added'), document });
    return isWritten(await renderBy(other, { ...eventFor('bob', one.read ?? shown, 'added'), document }));
  };
  expect(await isShared({})).toBe(true);
  expect(await isShared({ read: { ...shown } })).toBe(false);
  expect(await isShared({ locale: 'de' })).toBe(false);
  expect(await isShared({ variables: { after: 'x', locale: 'en' } })).toBe(false);
  expect(await isShared({ variables: { locale: 'de' } })).toBe(true);
});

test('an omitted variable differs from null', async () => {
  const document = parse(
    `subscription ($l: String = "de") { feedEvents {
       ... on FeedItemAdded { item { action { descriptor { summary(locale: $l) } } } } } }`,
  );
  for (const variables of [
    [{}, { l: null }, {}],
    [{ l: null }, {}, { l: null }],
  ]) {
    const outcomes = await compare(document, { type: 'ApplicationRating', kind: 'added', variables });
    expect(new Set(outcomes.map(({ interpreted }) => interpreted)).size).toBe(2);
    for (const { shown, interpreted } of outcomes) expect(shown).toBe(interpreted);
  }
});

test('executes events one by one for the only viewer of an operation, also after others left', async () => {
  const document = parse(WHOLE);
  const rendering = new LiveRendering(new CompiledExecution(), DEFAULT_LIMITS);
  const shown = action('ApplicationRating');
  const first = rendering.open({ schema, document }, 'en');
  const second = rendering.open({ schema, document }, 'en');
  await renderBy(first, { ...eventFor('ann', shown, 'added'), document });
  second[Symbol.dispose]();
  second[Symbol.dispose]();
  const result = await renderBy(first, { ...eventFor('bob', shown, 'added'), document });
  expect(isWritten(result)).toBe(false);
});

const PLAIN_OF_VIEWER = `subscription { e: feedEvents { __typename c: cursor ... on FeedItemAdded { item {
  i: id relevancy at: relevancy reasons isUnread isArchived snoozedUntil action { id descriptor { summary } } } } } }`;

test('executes nothing for viewer fields that the event contains', async () => {
  const document = parse(PLAIN_OF_VIEWER);
  const rendering = new LiveRendering(new CompiledExecution(), DEFAULT_LIMITS);
  const renderers = VIEWERS.map(() => rendering.open({ schema, document }, 'en'));
  const shown = action('ApplicationRating');
  await renderBy(renderers[0], { ...eventFor('ann', shown, 'added'), document });
  for (const viewer of ['bob', 'root', 'ann', 'bob']) {
    const { rootValue } = eventFor(viewer, shown, 'added');
    const result = await renderers[1]?.render(rootValue as FeedEvent, () => {
      throw new Error('Nothing is to be executed');
    });
    const interpreted = await shownTo({ ...eventFor(viewer, { ...shown }, 'added'), document }, execute);
    expect(result).toMatchObject({ bytes: toByteText(interpreted) });
  }
});

test('executes them if ids and cursors are shown without a tenant', async () => {
  const inTenants = await buildSchema({ tenantClaim: 'tenant' });
  const viewer = 'acme\u001Fann';
  const document = parse(PLAIN_OF_VIEWER);
  const rendering = new LiveRendering(new CompiledExecution(), DEFAULT_LIMITS);
  const renderers = [0, 1].map(() => rendering.open({ schema: inTenants, document }, 'en'));
  const shown = action('ApplicationRating');
  const argsOf = (): ExecutionArgs => {
    const args = eventFor('ann', shown, 'added');
    const event = args.rootValue as Extract<FeedEvent, { item: unknown }>;
    const identity: Identity = { userId: viewer, roles: new Set(['user'] as const), expiresAt: null };
    const contextValue = createContext(
      { cursors: { shown: (_userId: string, cursor: string) => `sealed ${cursor}` } } as unknown as Core,
      identity,
      new AbortController().signal,
      { openSession: () => sessionOf(identity) },
    );
    const rootValue = { ...event, item: { ...event.item, userId: viewer } };
    return { ...args, schema: inTenants, document, contextValue, rootValue };
  };
  await renderBy(renderers[0], argsOf());
  const result = await renderBy(renderers[1], argsOf());
  const interpreted = await shownTo(argsOf(), execute);
  expect(result).toMatchObject({ bytes: toByteText(interpreted) });
  expect(interpreted).toContain('"c":"sealed cursor of ann"');
  expect(interpreted).not.toContain(Buffer.from(viewer).toString('base64').slice(0, 8));
});

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Something that is often added to the project, as somebody would do it. */
export interface Addition {
  /** Its line in docs/where-to-change.md. */
  readonly what: string;
  /** New files, by their path. */
  readonly files: Readonly<Record<string, string>>;
  /** What is put into a file that is there: after the first piece of text, which is in it once, comes the second. */
  readonly insertions: readonly (readonly [path: string, after: string, text: string])[];
  /** Files that a command writes then, by the command. */
  readonly written: Readonly<Record<string, string>>;
}

/** One document for each reader and action. */
const FEED_MODEL: Addition = {
  what: 'a feed model',
  files: {
    'parts/feed-models/src/plain/model.ts': `
import type { FeedModel } from '../../../../src/feed/feed-store.ts';
import { feedCollection } from '../../../../src/storage/documents/declaration.ts';
import { HOLDERS_INDEX, PAGE_INDEX } from '../../../../src/feed/models/stored-entries.ts';
import { plainFeedStore } from './store.ts';

export const plainModel: FeedModel = {
  name: 'plain',
  collections: [
    feedCollection('plainEntries', {
      holds: 'an entry of a feed',
      reader: 'userId',
      indexes: [PAGE_INDEX, HOLDERS_INDEX],
      serves: 'page and deliveries of a reader',
    }),
  ],
  open: ({ db }) => plainFeedStore(db.collection('plainEntries'), db.collection('plainEntries')),
};
`,
    'parts/feed-models/src/plain/store.ts': `
import { ObjectId, type Collection } from 'mongodb';
import type { UserId } from '../../../../src/domain/action.ts';
import type { FeedEntry } from '../../../../src/domain/newsfeed-item.ts';
import { isDuplicateKey } from '../../../../src/storage/database/errors.ts';
import type { FeedEntryDocument, StoredEntryDocument } from '../../../../src/storage/documents/feed-documents.ts';
import { eachChunk, type FeedStore } from '../../../../src/feed/feed-store.ts';
import { BY_FIELDS, isBehind, storedEntries } from '../../../../src/feed/models/stored-entries.ts';

/** One write for each entry, and nothing more. */
export function plainFeedStore(
  collection: Collection<StoredEntryDocument>,
  /** The same, by what its documents have in common with others. */
  entries: Collection<StoredEntryDocument>,
): FeedStore {
  const stored = storedEntries(entries, BY_FIELDS);

  /** What was stored of it before. */
  async function put(userId: UserId, { actionId, relevancy, reasons }: FeedEntry): Promise<FeedEntryDocument | null> {
    const _id = \`\${actionId}_\${userId}\`;
    try {
      await collection.insertOne({ _id, userId, actionId: new ObjectId(actionId), relevancy, reasons: [...reasons] });
      return null;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    const raised = { $max: { relevancy }, $addToSet: { reasons: { $each: [...reasons] } } };
    return collection.findOneAndUpdate({ _id }, raised);
  }

  return {
    model: 'plain',
    deliver: eachChunk(async ({ actionId, readers }) => {
      const added: UserId[] = [];
      const raised: UserId[] = [];
      for (const reader of readers) {
        const before = await put(reader.userId, { actionId, ...reader });
        if (before === null) added.push(reader.userId);
        else if (isBehind(before, reader)) raised.push(reader.userId);
      }
      return { added, raised };
    }),
    async fill(userId, entries) {
      const added = [];
      for (const entry of entries) if ((await put(userId, entry)) === null) added.push(entry.actionId);
      return added;
    },
    page: async (query) => ({ entries: await stored.page(query), floor: null }),
    find: (userId, actionIds) => stored.find(userId, actionIds),
    held: (actionId, userIds) => stored.holders(actionId, userIds),
    holders: (actionId, query) => stored.someHolders(actionId, query),
    remove: (userIds, actionIds) => stored.remove(userIds, actionIds),
    trim: (userId, from) => stored.trim(userId, from),
    drop: (userId) => stored.drop(userId),
  };
}
`,
  },
  insertions: [
    [
      'parts/feed-models/src/index.ts',
      "import { cappedModel } from './capped/store.ts';\n",
      "import { plainModel } from './plain/model.ts';\n",
    ],
    ['parts/feed-models/src/index.ts', '  cappedModel,\n', '  plainModel,\n'],
  ],
  written: {},
};

const DESCRIPTOR: Addition = {
  what: 'a type that ships',
  files: {
    'src/descriptors/packs/social/praised.ts': `
import { defineDescriptor } from '../../declare.ts';
import { field } from '../../field.ts';

export const praised = defineDescriptor('Praised', {
  description: 'Somebody praised somebody.',
  fields: {
    userId: field.id({ description: 'Who was praised.' }),
    reason: field.text({ description: 'What for.', max: 200 }),
  },
  group: ['userId'],
  summary: { en: '{actor} praised {userId}', de: '{actor} lobt {userId}' },
});
`,
  },
  insertions: [
    [
      'src/descriptors/packs/packs.ts',
      "import { posted } from './social/posted.ts';\n",
      "import { praised } from './social/praised.ts';\n",
    ],
    ['src/descriptors/packs/packs.ts', 'social: [posted, followed, liked, commented', ', praised'],
  ],
  written: { 'npm run schema': 'schema/schema.graphql' },
};

const JOB: Addition = {
  what: 'a background job',
  files: {
    'src/features/census/jobs/census.ts': `
import type { Job, JobSetup } from '../../../jobs/job.ts';

/** Counts the names that are still to be carried to their copies. */
export function census({ core, config, logger }: JobSetup): Job {
  return {
    name: 'census',
    every: config.fanOut.pollMs,
    async run() {
      logger.info({ names: await core.renames.countDue() }, 'Census taken');
      return false;
    },
  };
}
`,
  },
  insertions: [
    [
      'src/app/features.ts',
      "import { expiry } from '../features/publish/jobs/expiry.ts';\n",
      "import { census } from '../features/census/jobs/census.ts';\n",
    ],
    ['src/app/features.ts', 'const ALL = [\n', '  { jobs: [census] },\n'],
  ],
  written: {},
};

const SETTING: Addition = {
  what: 'a setting',
  files: {},
  insertions: [
    [
      'src/config/settings.ts',
      "const FEED_SETTINGS = grouped('Feeds', {\n",
      "  CENSUS_EVERY: setting('1m', duration('1s', '1d'), 'How often names to be carried are counted.', 'feeds.censusEveryMs'),\n",
    ],
  ],
  written: { 'npm run settings': 'docs/configuration.md' },
};

const MARK: Addition = {
  what: "a reader's mark on actions",
  files: {
    'src/features/pinned/store.ts': `
import { newestIndex, readerActions, type ReaderActionId } from '../../storage/documents/reader-action-id.ts';

declare module '../../storage/documents/declaration.ts' {
  interface Documents {
    readonly itemPins: { _id: ReaderActionId; at: Date };
  }
}

export const ITEM_PINS = readerActions('itemPins', {
  holds: 'an action that a reader has pinned',
  indexes: [newestIndex("a reader's pins, newest first; erasure and export")],
  serves: 'the pins of a reader',
  entry: ({ at }) => ({ at }),
});
`,
    'src/features/pinned/filter.ts': `
import { feedFilter, flagSchema } from '../../feed/page/filters.ts';
import { readerActionLoad } from '../../feed/session/load.ts';
import { readerActionList } from '../../storage/documents/reader-action-id.ts';

declare module '../../core/shapes.ts' {
  interface FeedFilter {
    readonly pinned?: boolean | null | undefined;
  }
}

export const ITEM_PIN = readerActionLoad(({ collections }, pairs) => readerActionList(collections.itemPins).findPairs(pairs));

export const PINNED = feedFilter({
  name: 'pinned',
  input: 'FLAG',
  description: 'Only items that the viewer has pinned.',
  check: flagSchema,
  needs: [ITEM_PIN],
  passes: (_item, _isAsked, { loaded }) => loaded(ITEM_PIN) !== null,
  mayHavePassed: 'BEFORE_A_CHANGE',
});
`,
    'src/features/pinned/use-cases.ts': `
import type { Core } from '../../core/core.ts';
import type { Action, ActionId } from '../../domain/action.ts';
import { announce, updates } from '../../feed/announce.ts';
import { requireAction } from '../../feed/page/read-actions.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import { clock } from '../../lib/clock.ts';
import { readerActionList } from '../../storage/documents/reader-action-id.ts';

/** @throws NOT_FOUND */
export async function pinItem(core: Core, session: ReaderSession, actionId: ActionId, isPinned: boolean): Promise<Action> {
  const action = await requireAction(session, actionId);
  const pins = readerActionList(core.collections.itemPins);
  const { userId } = session.identity;
  await (isPinned ? pins.add(userId, actionId, clock.now()) : pins.remove(userId, actionId));
  await announce(core, updates(userId, await core.feedReader.find(await session.profile(), [actionId])));
  return action;
}
`,
    'src/features/pinned/api.ts': `
import { builder } from '../../graphql/builder.ts';
import { parseActionId } from '../../graphql/global-id.ts';
import { NewsfeedItem } from '../feed/api/feed.ts';
import { Action } from '../actions/api/action.ts';
import { ITEM_PIN } from './filter.ts';
import { pinItem } from './use-cases.ts';

builder.objectField(NewsfeedItem, 'isPinned', (t) =>
  t.boolean({
    description: 'Whether the viewer has pinned it.',
    resolve: async ({ actionId }, _args, context) => (await context.session().load(ITEM_PIN, actionId)) !== null,
  }),
);

builder.mutationField('pinItem', (t) =>
  t.field({
    type: Action,
    description: 'Pins an item, or ends that. NOT_FOUND if the viewer may not see the action.',
    args: {
      actionId: t.arg.id({ required: true, description: 'Global id of the action.' }),
      isPinned: t.arg.boolean({ required: true, description: 'Whether it is pinned from now on.' }),
    },
    resolve: (_root, { actionId, isPinned }, context) =>
      context.mutate((session) => pinItem(context.core, session, parseActionId(actionId, ['actionId']), isPinned)),
  }),
);
`,
  },
  insertions: [
    [
      'src/app/features.ts',
      "import { RANKINGS, SCORES } from '../features/ranking/store.ts';\n",
      "import { PINNED } from '../features/pinned/filter.ts';\nimport { ITEM_PINS } from '../features/pinned/store.ts';\n",
    ],
    [
      'src/app/features.ts',
      'const ALL = [\n',
      "  { collections: [ITEM_PINS], filters: [PINNED], api: () => import('../features/pinned/api.ts') },\n",
    ],
  ],
  written: {
    'npm run schema': 'schema/schema.graphql',
    'npm run collections': 'docs/collections.md and docs/sharding.md',
  },
};

const STATE: Addition = {
  what: 'a state of an item',
  files: {},
  insertions: [
    [
      'src/domain/item-states.ts',
      'export const ITEM_STATES = {\n',
      `  LATER: {
    ends: true,
    most: 2,
    list: ['later', 'Items for later instead of the feed.'],
    field: ['laterAt', 'When it comes back.'],
    set: ['readLater', 'Puts an item off.'],
    clear: ['readNow', 'Takes that back.'],
    withheld: ['LATER', 'The reader reads it later.'],
    ended: ['LATER_ENDED', 'The time to read it has come.'],
  },
`,
    ],
  ],
  written: { 'npm run schema': 'schema/schema.graphql' },
};

const PART: Addition = {
  what: 'a part that a server can do without',
  files: {
    'parts/greeting/part.ts': `
import type { Part } from '../../src/app/part.ts';
import { greetingJob } from './src/job.ts';
import { GREETINGS } from './src/host.ts';
import { greetingMetrics } from './src/metrics.ts';
import { GREETING } from './src/settings.ts';

export const greeting = {
  settings: GREETING,
  host: GREETINGS,
  metrics: greetingMetrics,
  jobs: [greetingJob],
} satisfies Part;
`,
    'parts/greeting/imports.json': `
{ "imports": ["^src/jobs/job\\\\.ts$", "^node_modules/zod/"] }
`,
    'parts/greeting/src/settings.ts': `
import { duration, text } from '../../../src/config/kinds.ts';
import { partSettings } from '../../../src/config/part-settings.ts';
import { optional, setting } from '../../../src/config/settings.ts';

export const GREETING = partSettings({
  group: 'Events',
  settings: {
    GREETING: optional(text('a text', /./), 'What is said.'),
    GREETING_EVERY: setting('1m', duration('10ms', '1d'), 'How often it is said.'),
  },
  of: ({ GREETING: words = null, GREETING_EVERY: everyMs, FEED_CAP: cap }) => ({ words, everyMs, cap }),
  faults: ({ GREETING: words, FEED_CAP: cap = 0 }) =>
    words !== undefined && words.length > cap
      ? [{ name: 'GREETING', message: 'is longer than a feed, expected at most FEED_CAP' }]
      : [],
});
`,
    'parts/greeting/src/host.ts': `
import { z } from 'zod';
import type { HostPart } from '../../../src/descriptors/host-parts.ts';

declare module '../../../src/descriptors/host-config.ts' {
  interface HostOptions {
    /** Whom nobody has to greet. */
    readonly greetings?: { readonly without: readonly string[] };
  }
}

export const GREETINGS = {
  key: 'greetings',
  schema: z.strictObject({ without: z.array(z.string()).readonly() }).readonly(),
  phrases: { hello: { en: 'Hello {name}', de: 'Hallo {name}', arguments: ['name'] } },
} satisfies HostPart;
`,
    'parts/greeting/src/metrics.ts': `
import type { Meters } from '../../../src/telemetry/metrics.ts';

export function greetingMetrics({ counter }: Meters) {
  const said = counter('fanfare_greetings_total', 'Greetings.', 'words');
  return { greeted: (words: string): void => said.inc({ words }) };
}
`,
    'parts/greeting/src/job.ts': `
import type { Job, JobSetup } from '../../../src/jobs/job.ts';
import { greetingMetrics } from './metrics.ts';
import { GREETING } from './settings.ts';

export function greetingJob({ config, metrics }: JobSetup): readonly Job[] {
  const { words, everyMs } = config.of(GREETING);
  const { greeted } = metrics.of(greetingMetrics);
  if (words === null) return [];
  return [{ name: 'greeting', every: everyMs, run: () => Promise.resolve(greeted(words)).then(() => false) }];
}
`,
  },
  insertions: [
    [
      'src/app/parts.ts',
      "export { feedModels } from '../../parts/feed-models/part.ts';\n",
      "export { greeting } from '../../parts/greeting/part.ts';\n",
    ],
  ],
  written: { 'npm run settings': 'docs/configuration.md' },
};

export const ADDITIONS = [FEED_MODEL, DESCRIPTOR, JOB, SETTING, MARK, STATE, PART] as const;

/** Deletes parts of the server as somebody would do it: their folders, and their lines in the lists. */
export async function removeParts(names: readonly string[], project: string): Promise<void> {
  for (const name of names) await rm(join(project, 'parts', name), { recursive: true });
  const line = new RegExp(`^.*/parts/(?:${names.join('|')})/.*\n`, 'gm');
  for (const path of LISTS) {
    const text = await readFile(join(project, path), 'utf8');
    const gone = [...text.matchAll(line)].flatMap(([found]) => /\* as (\w+)/.exec(found)?.slice(1) ?? []);
    const used = new RegExp(`^ +\\.{3}(?:${['none', ...gone].join('|')}),\n`, 'gm');
    await writeFile(join(project, path), text.replaceAll(line, '').replaceAll(used, ''));
  }
}

/** Where parts of the server are listed, and the tests' short forms of their use cases. */
const LISTS = ['src/app/parts.ts', 'test/support/services.ts'];

/** Puts it into the project in a folder, but for what commands write. */
export async function add({ files, insertions }: Addition, project: string): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), text.trimStart());
  }
  for (const [path, after, text] of insertions) {
    const pieces = (await readFile(join(project, path), 'utf8')).split(after);
    if (pieces.length !== 2)
      throw new Error(`${path} has ${JSON.stringify(after)} ${String(pieces.length - 1)} times, not once`);
    await writeFile(join(project, path), pieces.join(after + text));
  }
}

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
      'src/app/jobs.ts',
      "import { expiry } from '../features/publish/jobs/expiry.ts';\n",
      "import { census } from '../features/census/jobs/census.ts';\n",
    ],
    ['src/app/jobs.ts', 'JOBS: readonly DeclareJob[] = [', 'census, '],
  ],
  written: {},
};

const SETTING: Addition = {
  what: 'a setting',
  files: {},
  insertions: [
    [
      'src/config/settings.ts',
      "const FEED_SETTINGS = group('Feeds', {\n",
      "  CENSUS_EVERY: setting('1m', duration('1s', '1d'), 'How often names to be carried are counted.', 'feeds.censusEveryMs'),\n",
    ],
  ],
  written: { 'npm run settings': 'docs/configuration.md' },
};

const MARK: Addition = {
  what: "a reader's mark on actions",
  files: {
    'src/features/stars/store.ts': `
import { newestIndex, readerActions, type ReaderActionId } from '../../storage/documents/reader-action-id.ts';

declare module '../../storage/documents/declaration.ts' {
  interface Documents {
    readonly stars: { _id: ReaderActionId; at: Date };
  }
}

export const STARS = readerActions('stars', {
  holds: 'an action that a reader has starred',
  indexes: [newestIndex("a reader's stars, newest first; erasure and export")],
  serves: 'the stars of a reader',
  entry: ({ at }) => ({ at }),
});
`,
    'src/features/stars/use-cases.ts': `
import type { Action, ActionId } from '../../domain/action.ts';
import { requireAction } from '../../feed/page/read-actions.ts';
import { readerActionLoad } from '../../feed/session/load.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import { clock } from '../../lib/clock.ts';
import { readerActionList } from '../../storage/documents/reader-action-id.ts';
import type { Core } from '../../core/core.ts';

export const STARRED = readerActionLoad(({ collections }, pairs) => readerActionList(collections.stars).findPairs(pairs));

/** @throws NOT_FOUND */
export async function star({ collections }: Core, session: ReaderSession, actionId: ActionId): Promise<Action> {
  const action = await requireAction(session, actionId);
  await readerActionList(collections.stars).add(session.identity.userId, actionId, clock.now());
  return action;
}
`,
    'src/features/stars/api.ts': `
import { builder } from '../../graphql/builder.ts';
import { parseActionId } from '../../graphql/global-id.ts';
import { Action } from '../actions/api/action.ts';
import { star, STARRED } from './use-cases.ts';

builder.objectField(Action, 'isStarred', (t) =>
  t.boolean({
    description: 'Whether the viewer has starred it.',
    resolve: async ({ id }, _args, context) => (await context.session().load(STARRED, id)) !== null,
  }),
);

builder.mutationField('star', (t) =>
  t.field({
    type: Action,
    description: 'Stars an action. NOT_FOUND if the viewer may not see it.',
    args: { actionId: t.arg.id({ required: true, description: 'Global id of the action.' }) },
    resolve: (_root, { actionId }, context) =>
      context.mutate((session) => star(context.core, session, parseActionId(actionId, ['actionId']))),
  }),
);
`,
  },
  insertions: [
    [
      'src/app/features.ts',
      "import { RANKINGS, SCORES } from '../features/ranking/store.ts';\n",
      "import { STARS } from '../features/stars/store.ts';\n",
    ],
    [
      'src/app/features.ts',
      'const FEATURES = [\n',
      "  { collections: [STARS], api: () => import('../features/stars/api.ts') },\n",
    ],
  ],
  written: { 'npm run schema': 'schema/schema.graphql', 'npm run collections': 'docs/collections.md' },
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

export const ADDITIONS = [FEED_MODEL, DESCRIPTOR, JOB, SETTING, MARK, STATE] as const;

/** Deletes parts of the server as somebody would do it: their folders, and their lines in the lists that register them. */
export async function removeParts(names: readonly string[], project: string): Promise<void> {
  for (const name of names) await rm(join(project, 'parts', name), { recursive: true });
  const part = `/parts/(?:${names.join('|')})/`;
  const imports = new RegExp(`^import (?:\\* as|{)([^{};]+)}? from '[^;]*${part}[^;]*;\n`, 'gm');
  const rows = new RegExp(`^  {[^{}]*${part}[^{}]*},\n`, 'gm');
  for (const path of LISTS) {
    const text = await readFile(join(project, path), 'utf8');
    const imported = [...text.matchAll(imports)].flatMap(([, list = '']) => list.match(/\w+/g) ?? []);
    const listed = new RegExp(`(?:\\.{3})?\\b(?:${['no import', ...imported].join('|')})\\b,?`, 'g');
    const left = text.replaceAll(imports, '').replaceAll(rows, '').replaceAll(listed, '');
    await writeFile(join(project, path), left);
  }
}

/** Where parts of the server are registered, and the tests' short forms of their use cases. */
const LISTS = ['src/app/features.ts', 'src/commands.ts', 'src/app/part-jobs.ts', 'test/support/services.ts'];

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

import type { Document } from 'mongodb';
import { FEED_COLLECTIONS } from '../../src/app/feed-models.ts';
import { READER_ACTIONS } from './reader-actions.ts';
import type { Declaration } from '../../src/storage/documents/declaration.ts';
import type { RecordedCommand } from './commands.ts';

/** Why a command may go to every shard of a collection. */
export interface Reason {
  readonly why: string;
  /** What its filter names, one of these at least. Absent: whatever it names. */
  readonly by?: readonly string[];
  /** What the path of the source that sends it begins with, below src; one of several. Absent: all of them. */
  readonly from?: string | readonly string[];
}

type Reasons = Readonly<Record<'reads' | 'writes', readonly Reason[]>>;

const because = (why: string, by: readonly string[], from?: Reason['from']): Reason => ({
  ...{ why, by },
  ...(from === undefined ? {} : { from }),
});
const inSource = (from: string | readonly string[], why: string): Reason => ({ why, from });

const HELD = 'feeds that contain an action that was withdrawn or addressed to others';
const RAISED = because('raising an action in all feeds at once', ['_id'], 'feed/models/items.ts');
const PURGED = 'purging a deleted action';
/** What has a sharded database refused comes here too: the tests have one that is none. */
const TENANT = inSource('parts/tenants/src/', 'erasing a tenant, or adopting all data into one');
/** Whether there is anything that a migration could be about. */
const EMPTY = inSource('storage/database/schema-version.ts', 'a migration');
const EVERYBODY = inSource('feed/store/reader-choices.ts', 'listing all readers');
const erased = (by: string): Reason => inSource(`parts/erasure/src/store/${by}.ts`, 'erasure');
const unsent = because('events not moved yet', ['unsentAt']);
const MOVED = inSource(
  ['parts/events/src/store/event-', 'features/events/store/event-outbox.ts'],
  'moved events, by id',
);
const CUT_OFF = because('interrupted writes', ['settling']);
const RENAMED = because('renames that are due', ['rename.due']);
const CLAIMED = inSource('storage/database/lease.ts', 'work claimed together, by id');
const SEARCH = because('search by words of names', ['search.terms']);
const PULLED = 'list of pulled refs';
const LISTS = 'lists and groups with their details';
const OFFLOADED = inSource('parts/archive/src/store/', 'offload and restore');

/** Who holds an action is found by an index of that name, or by `_id`. */
function reasonsOfFeeds({ name, indexes }: Declaration): Reasons {
  const index = indexes.find((one) => one.name === 'holders');
  const [by = '_id'] = Object.keys(index?.key ?? {});
  const hasHolders = index !== undefined || name === 'newsfeedItems';
  return {
    reads: [...(hasHolders ? [because(HELD, [by])] : []), TENANT],
    writes: [...(name === 'newsfeedItems' ? [RAISED] : []), TENANT],
  };
}

/** What readers said about actions goes with these: into a file and out of it, and when they are purged. */
function reasonsOfReaderActions(name: string): Reasons {
  const { reads, writes } = OF_ONE[name] ?? { reads: [], writes: [] };
  return {
    reads: [...reads, OFFLOADED, TENANT],
    writes: [because(PURGED, ['_id.actionId']), ...writes, TENANT, erased('member-traces')],
  };
}

/** What only one of these collections has beside that. */
const OF_ONE: Readonly<Record<string, Reasons>> = {
  impressions: {
    reads: [inSource('features/impressions/store.ts', 'what was shown in an hour')],
    writes: [inSource('features/impressions/store.ts', 'what was shown too long ago')],
  },
  itemMarks: {
    reads: [because('ending snoozes', ['lifting.due']), CLAIMED],
    writes: [because('ended snoozes, by id', ['until'], 'features/marks/store/mark-ends.ts'), CLAIMED],
  },
};

/** What is not named here names its shard key. */
export const SCATTERED: Readonly<Record<string, Reasons>> = {
  actions: {
    reads: [
      because('work that is due, and its amount', [
        'fanOut.leaseUntil',
        'fanOut.state',
        'unsentAt',
        'expiresAt',
        'publishAt',
      ]),
      because('actions of a ref, team, group or member: slices, lists, feeds read from the source, erasure', [
        ...['refIds', 'pullRefIds', 'audience', 'actorId', 'names', 'otherIds', 'groupKey'],
        ...['reshares.by', 'descriptor.raterId'],
      ]),
      because('what was conducted ahead of the clock', ['isAhead']),
      because('slices of everything', ['isDeleted'], 'storage/actions/actions.ts'),
      inSource('features/ranking/store.ts', 'ranked actions'),
      because(LISTS, ['$lookup'], 'features/interactions/store/interaction-lists.ts'),
      ...[OFFLOADED, TENANT, EMPTY],
    ],
    writes: [erased('member-traces')],
  },
  publications: { reads: [], writes: [TENANT] },
  ...Object.fromEntries(FEED_COLLECTIONS.map((collection) => [collection.name, reasonsOfFeeds(collection)])),
  feeds: {
    reads: [
      because('work that is due: rebuilds, trims, mutes, digests', [
        ...['rebuild.due', 'trimAt', 'muteEnd.due', 'digest.due'],
      ]),
      because('readers who have not read for long', ['activeAt', 'awaitedSince']),
      because('feeds that may lack a raised action', ['floor.relevancy'], 'feed/store/concerned.ts'),
      because(
        'a page, only if the database is not sharded',
        ['$lookup'],
        ['feed/models/items.ts', 'feed/models/beside.ts'],
      ),
      ...[EVERYBODY, TENANT, EMPTY, erased('member-data'), erased('member-traces')],
    ],
    writes: [],
  },
  follows: {
    reads: [
      because('followers of a ref, merged in order', ['refId']),
      ...[CUT_OFF, unsent, EVERYBODY, TENANT, EMPTY],
    ],
    writes: [MOVED, erased('member-traces'), TENANT],
  },
  interactions: {
    reads: [
      because('one by id only', ['_id'], 'features/interactions/store/interaction-records.ts'),
      because('interactions of a member, and those that concern them', ['actorId', 'to', 'ownerId']),
      because('all comments, for moderators', ['text'], 'features/interactions/store/interaction-lists.ts'),
      ...[CUT_OFF, unsent, TENANT],
    ],
    writes: [MOVED, TENANT, erased('member-traces')],
  },
  notificationStates: { reads: [because('members to be notified', ['due.due']), TENANT], writes: [] },
  mailboxes: {
    reads: [
      because('members to be mailed', ['due.due']),
      because('mails that come back', ['off.at']),
      TENANT,
    ],
    writes: [because('whose mail came back', ['address'], 'parts/mail/src/store.ts')],
  },
  members: {
    reads: [
      because('members of a team or department, or of a supervisor', [
        ...['teamId', 'departmentId', 'supervisorId'],
      ]),
      because('number of members of a tenant', ['_id'], 'features/directory/store/members.ts'),
      ...[SEARCH, RENAMED, EVERYBODY, TENANT, EMPTY],
    ],
    writes: [],
  },
  refs: {
    reads: [because(PULLED, ['isPulled']), SEARCH, RENAMED, TENANT, EMPTY],
    writes: [because(PULLED, ['pullSince'], 'features/directory/store/refs.ts'), erased('member-traces')],
  },
  blocks: {
    reads: [because('who blocks an erased member', ['_id.otherId'], 'features/blocks/store.ts'), TENANT],
    writes: [TENANT],
  },
  ...Object.fromEntries(READER_ACTIONS.map(({ name }) => [name, reasonsOfReaderActions(name)])),
};

const READS: ReadonlySet<string> = new Set(['find', 'count', 'distinct', 'aggregate']);

/**
 * Which of the reasons are why a command may go to all shards, as `allReasons` has them; empty: nobody has given one.
 * @param from the source that sends it, below src
 */
export function reasonsOf({ name, collection, command }: RecordedCommand, from: string): readonly string[] {
  const kind = READS.has(name) ? 'reads' : 'writes';
  const named = fieldsOf(name, command);
  const fits = ({ by, from: source }: Reason): boolean =>
    (source === undefined || [source].flat().some((one) => from.startsWith(one))) &&
    (by === undefined || by.some((field) => named.has(field)));
  const reason = SCATTERED[collection]?.[kind].find(fits);
  if (reason === undefined) return [];
  const by = reason.by?.filter((field) => named.has(field));
  return partsOf(collection, kind, { ...reason, ...(by === undefined ? {} : { by }) });
}

/** Every reason that is given, one for each field that it is about. */
export function allReasons(): readonly string[] {
  return Object.entries(SCATTERED).flatMap(([collection, reasons]) =>
    (['reads', 'writes'] as const).flatMap((kind) =>
      reasons[kind].flatMap((reason) => partsOf(collection, kind, reason)),
    ),
  );
}

function partsOf(collection: string, kind: keyof Reasons, { why, by, from }: Reason): readonly string[] {
  const source = from === undefined ? '' : `, from ${[from].flat().join(' or ')}`;
  return (by ?? [null]).map(
    (field) => `${kind} of ${collection}: ${why}${field === null ? '' : ` (${field})`}${source}`,
  );
}

/** The fields that a filter names, and the stages of a pipeline. */
function fieldsOf(name: string, command: Document): ReadonlySet<string> {
  if (name === 'aggregate') {
    const stages = command['pipeline'] as readonly Document[];
    return new Set([...namesIn(stages[0]?.['$match']), ...stages.flatMap((stage) => Object.keys(stage))]);
  }
  const [write] = ((command['updates'] ?? command['deletes']) as readonly Document[] | undefined) ?? [];
  return new Set(namesIn(write === undefined ? (command['filter'] ?? command['query']) : write['q']));
}

function namesIn(filter: unknown): string[] {
  if (typeof filter !== 'object' || filter === null) return [];
  return Object.entries(filter).flatMap(([name, value]: [string, unknown]) =>
    name.startsWith('$') && Array.isArray(value) ? value.flatMap(namesIn) : [name],
  );
}

/** The reasons as the document of sharding has them, each with what is looked for by. */
export function reasonsInWords(reasons: readonly Reason[] = []): string {
  const by = new Map<string, Set<string>>();
  for (const { why, by: fields = [] } of reasons) {
    const known = by.get(why) ?? new Set();
    for (const field of fields) known.add(field);
    by.set(why, known);
  }
  const words = [...by].map(([why, fields]) =>
    fields.size === 0 ? why : `${why} (${[...fields].map((field) => `\`${field}\``).join(', ')})`,
  );
  return words.length === 0 ? '–' : words.join('; ');
}

import { itemId } from '../../src/feed/models/items.ts';
import { ObjectId } from 'mongodb';
import type { ActionDocument } from '../../src/storage/documents/documents.ts';
import type { PublishActionInput } from '../../src/core/shapes.ts';
import type { InProcess } from '../harness/in-process.ts';
import { ratingInput } from './actions.ts';
import { load, type RawWorld } from './raw.ts';
import { upsertMembers, upsertRefs } from '../../src/features/directory/directory.ts';

const MINUTE = 60_000;
export const FEED_REF = 'site-read';

/**
 * Loads actions that are a minute apart, the newest first: copies of one that was published by the server, so that they
 * are what it writes.
 */
export async function loadActions(
  world: Pick<RawWorld, 'actions'>,
  fanfare: { publish(input: PublishActionInput): Promise<unknown> },
  count: number,
): Promise<readonly ActionDocument[]> {
  await fanfare.publish(ratingInput(0, [{ id: FEED_REF }]));
  const template = await world.actions.findOneAndDelete({}, { sort: { _id: -1 } });
  if (template === null) throw new Error('The published action is not there');
  const { leaseUntil: _leaseUntil, ...fanOut } = template.fanOut;
  const newest = Date.now() - MINUTE;
  const make = (index: number): ActionDocument => {
    const time = new Date(newest - index * MINUTE);
    const actorId = `actor-${String(index % 53)}`;
    const applicant = `applicant-${String(index % 97)}`;
    return {
      ...template,
      _id: new ObjectId(),
      actorId,
      // As of one rating of the applicant's each: those of a day are a group.
      groupKey: `${time.toISOString().slice(0, 10)}:${applicant}`,
      ...{ conducted: time, recorded: time, latest: time },
      refs: [
        { id: FEED_REF, type: 'site', label: `Site ${FEED_REF}` },
        { id: applicant, type: 'applicant', label: `Applicant ${applicant}` },
      ],
      refIds: [FEED_REF, applicant, actorId],
      fanOut: { ...fanOut, state: 'DONE' },
    };
  };
  const actions: ActionDocument[] = Array.from({ length: count }, (_, index) => make(index));
  await load(world.actions, count, (index) => actions[index] ?? make(index));
  return actions;
}

/** Puts these actions into a reader's feed, as the fan-out does. */
export function loadFeed(
  world: Pick<RawWorld, 'items'>,
  userId: string,
  actions: readonly ActionDocument[],
): Promise<void> {
  return load(world.items, actions.length, (index) => {
    const action = actions[index];
    if (action === undefined) throw new Error('There are fewer actions than items');
    const { _id: actionId, latest: relevancy } = action;
    const reasons = ['FOLLOW' as const];
    return { _id: itemId(userId, actionId), userId, actionId, relevancy, reasons };
  });
}

/** Likes and comments of others with actions of the reader, which are copies of these. */
export async function loadNotifications(
  { actions, db }: Pick<RawWorld, 'actions' | 'db'>,
  ownerId: string,
  copied: readonly ActionDocument[],
): Promise<void> {
  const by = { actorId: ownerId, refIds: [ownerId], groupKey: ownerId };
  const own = copied.map((one) => ({ ...one, ...by, _id: new ObjectId(), isBumped: true as const }));
  await actions.insertMany(own);
  const given = own.flatMap(({ _id: actionId, latest: at }) =>
    ['LIKE', 'COMMENT'].map((kind, index) => ({
      ...{
        actionId,
        kind,
        key: kind,
        ownerId,
        at,
        shownAt: at,
        departmentIds: [],
        actorId: `actor-${String(index)}`,
      },
    })),
  );
  await db.collection('interactions').insertMany(given);
}

/** Gives names to the actors and labels to the refs of the loaded actions. */
export async function loadNames(fanfare: InProcess): Promise<void> {
  const { core } = fanfare.app;
  const { members, refs } = namesOfFeed();
  await upsertMembers(core, fanfare.service, members);
  await upsertRefs(core, fanfare.service, refs);
}

/** What the host application says of the actors and refs of the loaded actions. */
export function namesOfFeed() {
  const numbers = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index));
  return {
    members: numbers(53).map((n) => ({ memberId: `actor-${n}`, name: `Actor ${n}` })),
    refs: [
      { id: FEED_REF, type: 'site', label: 'Site of the benchmark' },
      ...numbers(97).map((n) => ({ id: `applicant-${n}`, type: 'applicant', label: `Applicant ${n}` })),
      ...numbers(31).map((n) => ({ id: `position-${n}`, type: 'position', label: `Position ${n}` })),
    ],
  };
}

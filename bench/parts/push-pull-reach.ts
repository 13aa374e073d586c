import { openInProcess, type InProcess } from '../harness/in-process.ts';
import { withProfile } from '../harness/profile.ts';
import { alternate, type Contender, type Series } from '../harness/rounds.ts';
import { now } from '../harness/statistics.ts';
import { ratingInput } from '../world/actions.ts';
import { bigRefId, loadBigRefs } from '../world/models-pulled.ts';
import { loadFollowers, readerId } from '../world/people.ts';
import { informPlanner, openRawWorld } from '../world/raw.ts';
import { roundsOf, sized, type PartContext } from './part.ts';

export type Way = 'push' | 'pull';

/** Milliseconds from the call of publishAction. */
export interface Reach {
  readonly followers: number;
  readonly done: Readonly<Record<Way, Series>>;
  readonly seenByLast: Readonly<Record<Way, Series>>;
  readonly seenByAny: Readonly<Record<Way, Series>>;
}

const REF = bigRefId(0);
/** Pauses between two looks into a feed: short in the beginning, then long enough to disturb little. */
const FIRST_PAUSE_MS = 2;
const PAUSE_GROWTH = 1.1;
const LAST_PAUSE_MS = 100;
const GIVE_UP_MS = 10 * 60_000;
/** What of an irrational number is left takes a place that no other round comes near. */
const GOLDEN = 0.618_033_988_749_895;

/** An action of a ref with very many followers, pushed to them and pulled by them in turn. */
export async function measureReach(context: PartContext): Promise<Reach> {
  const { environment, options, say, profileDir } = context;
  const followers = sized(options, { full: 100_000, short: 10_000, smoke: 1_000 });
  say(`${String(followers)} followers`);
  const seen = {
    last: { push: [] as number[], pull: [] as number[] },
    any: { push: [] as number[], pull: [] as number[] },
  };
  const open = async (way: Way) => {
    const database = `bench_push_pull_${way}`;
    const world = await openRawWorld(environment, database);
    await loadBigRefs(world, [REF], { followers, isPulled: way === 'pull' });
    await loadFollowers(world.follows, REF, followers);
    await informPlanner(world);
    // More followers than the threshold are pulled.
    const threshold = way === 'pull' ? followers - 1 : followers;
    const env = { CELEBRITY_THRESHOLD: String(threshold) };
    return { way, world, fanfare: await openInProcess(environment, database, { worker: true, env }) };
  };
  const push = await open('push');
  await using _pushWorld = push.world;
  await using _push = push.fanfare;
  const pull = await open('pull');
  await using _pullWorld = pull.world;
  await using _pull = pull.fanfare;
  let published = 0;
  const contender = ({ way, fanfare }: { readonly way: Way; readonly fanfare: InProcess }): Contender => ({
    name: way,
    measure: async (round) => {
      const last = readerId(followers - 1);
      const any = readerId(Math.floor(((round + 2) * GOLDEN * followers) % followers));
      // Their first look notes that they read.
      for (const reader of [last, any]) await look(fanfare, reader);
      const from = now();
      const id = await fanfare.publish(ratingInput(published++, [{ id: REF }]));
      const [atDone, atLast, atAny] = await Promise.all([
        fanfare.done(id).then(({ delivered }) => {
          const expected = way === 'push' ? followers : 0;
          if (delivered !== expected)
            throw new Error(`Delivered ${String(delivered)} items instead of ${String(expected)}`);
          return now();
        }),
        whenSeen(fanfare, last, id),
        whenSeen(fanfare, any, id),
      ]);
      if (round >= 0) {
        seen.last[way].push(atLast - from);
        seen.any[way].push(atAny - from);
      }
      return atDone - from;
    },
  });
  const [pushed, pulled] = await withProfile(profileDir, 'push-pull', () =>
    alternate([contender(push), contender(pull)], {
      rounds: roundsOf(options, { full: 5, short: 3, smoke: 1 }),
      warmUp: sized(options, { full: 1, short: 1, smoke: 0 }),
    }),
  );
  if (pushed === undefined || pulled === undefined) throw new Error('Nothing was measured');
  const series = (what: string, { push: a, pull: b }: Record<Way, readonly number[]>) => ({
    push: { name: `push, publish → ${what}`, values: a },
    pull: { name: `pull, publish → ${what}`, values: b },
  });
  return {
    followers,
    done: series('DONE', { push: pushed.values, pull: pulled.values }),
    seenByLast: series('seen by the last follower', seen.last),
    seenByAny: series('seen by a random follower', seen.any),
  };
}

/** Reads the reader's feed again and again until it shows the action. */
async function whenSeen(fanfare: InProcess, reader: string, actionId: string): Promise<number> {
  const giveUp = now() + GIVE_UP_MS;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(LAST_PAUSE_MS, pause * PAUSE_GROWTH)) {
    if ((await look(fanfare, reader)).includes(actionId)) return now();
    if (now() > giveUp) throw new Error(`${reader} never saw the action`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

async function look(fanfare: InProcess, reader: string): Promise<readonly string[]> {
  const { services } = fanfare.app;
  const { edges } = await services.readFeed(services.openSession(fanfare.identity(reader)), { first: 5 });
  return edges.map(({ node }) => node.actionId);
}

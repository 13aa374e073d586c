import type { SeededRandom } from '../../support/seeded-random.ts';
import { call, type As } from './call.ts';
import type { Journal } from './journal.ts';
import { editOf, publicationOf } from './publication.ts';
import { interactionOperations } from './interaction-operations.ts';
import { readerOperations } from './reader-operations.ts';
import { ADMIN, BOSS, type World } from './world.ts';

/** The latest actions that operations are about. */
const REMEMBERED = 150;
/** How often what was not answered is tried again when all is quiet. */
const TRIES = 10;
/** What a client may get while processes die and services stand still. */
const EXPECTED = new Set(['NO_ANSWER', 'NOT_FOUND', 'CONFLICT', 'UNAVAILABLE']);
/** Publishers lose their team and department by chance, and publish for it all the same. */
const NO_GROUP = 'The actor has no ';
/** What was to end in seconds has ended before the answer came, and is sent again. */
const TOO_LATE = 'Must be later than now';
const SERVICE: As = { sub: 'importer', roles: ['service'] };

export interface Operations {
  /** Does one thing by chance. */
  once(): Promise<void>;
  /** Repeats what readers did about follows without learning that it was done, as they would, until it is. */
  finish(): Promise<void>;
}

export function operationsIn(world: World, random: SeededRandom, journal: Journal): Operations {
  const { readers, publishers, sites, departments, teams } = world;
  const actions: string[] = [];
  const hidden: string[] = [];
  const temporary: string[] = [];
  const unsure = new Map<string, () => Promise<boolean>>();
  let count = 0;

  const run = async <T>(what: string, document: string, variables: object, as: As): Promise<T | null> => {
    const number = (count += 1);
    journal.write(`${String(number)} ${what}`);
    const outcome = await call<T>(world, document, { ...variables }, as);
    const code = 'data' in outcome ? 'OK' : outcome.code;
    journal.codes.set(code, (journal.codes.get(code) ?? 0) + 1);
    journal.write(`${String(number)} → ${code} at ${new Date().toISOString()}`);
    if ('data' in outcome) return outcome.data;
    const isExpected =
      EXPECTED.has(code) || [NO_GROUP, TOO_LATE].some((words) => outcome.message.startsWith(words));
    if (!isExpected) journal.faults.push(`${what}: ${code} ${outcome.message}`);
    return null;
  };
  const remember = (ids: readonly (string | undefined)[]): void => {
    for (const id of ids) if (id !== undefined) actions.push(id);
    actions.splice(0, Math.max(0, actions.length - REMEMBERED));
  };
  const reader = (): string => random.pick(readers);
  const followable = (): string => random.pick([...publishers, ...sites]);
  const target = (): { readonly id: string; readonly words: string } => {
    const id = random.pick(actions);
    return { id, words: Buffer.from(id, 'base64').toString() };
  };

  const own = readerOperations({ roster: world, random, run, target });
  const interactions = interactionOperations({ roster: world, random, run, target });

  const publish = async (actorId = random.pick(publishers)): Promise<void> => {
    const input = publicationOf(world, random, actorId);
    const document =
      'mutation($input: PublishActionInput!) { publishAction(input: $input) { action { id } } }';
    const what = `publish by ${actorId} ${JSON.stringify(input)}`;
    // A client that does not know sends the same again, with the key that makes it one.
    for (let tries = 0; tries < 3; tries += 1) {
      const data = await run<{ publishAction: { action: { id: string } } }>(
        what,
        document,
        { input },
        SERVICE,
      );
      if (data === null) continue;
      remember([data.publishAction.action.id]);
      return;
    }
  };
  const publishMany = async (): Promise<void> => {
    const inputs = Array.from({ length: 5 + random.below(40) }, () =>
      publicationOf(world, random, random.pick(publishers)),
    );
    const data = await run<{ publishActions: { action: { id: string } | null }[] }>(
      `publish ${String(inputs.length)} at once`,
      'mutation($inputs: [PublishActionInput!]!) { publishActions(inputs: $inputs) { action { id } error { code } } }',
      { inputs },
      SERVICE,
    );
    remember(data?.publishActions.slice(-10).map(({ action }) => action?.id) ?? []);
  };
  const edit = async (): Promise<void> => {
    const { id, words } = target();
    const input = editOf(world, random);
    await run(
      `edit of ${words} ${JSON.stringify(input)}`,
      'mutation($id: ID!, $input: UpdateActionInput!) { updateAction(id: $id, input: $input) { id } }',
      { id, input },
      ADMIN,
    );
  };
  const moderate = async (): Promise<void> => {
    const { id, words } = target();
    await run(
      `hide ${words}`,
      'mutation($id: ID!) { hideAction(id: $id, reason: "r") { id } }',
      { id },
      ADMIN,
    );
    hidden.push(id);
  };
  const show = async (): Promise<void> => {
    const id = hidden.pop();
    if (id === undefined) return;
    const words = Buffer.from(id, 'base64').toString();
    await run(`unhide ${words}`, 'mutation($id: ID!) { unhideAction(id: $id) { id } }', { id }, ADMIN);
  };
  const remove = async (): Promise<void> => {
    const { id, words } = target();
    await run(`delete ${words}`, 'mutation($id: ID!) { deleteAction(id: $id) { id } }', { id }, ADMIN);
  };
  /** Of one reader and one ref only the last one counts. */
  const certainly = async (key: string, change: () => Promise<boolean>): Promise<void> => {
    unsure.set(key, change);
    if ((await change()) && unsure.get(key) === change) unsure.delete(key);
  };
  const follow = async (): Promise<void> => {
    const [sub, refId, copyLimit] = [reader(), followable(), random.pick([0, 3, 100, 1_000])];
    const types = random.pick([null, null, ['Custom'], ['Posted']]);
    const change = (): Promise<unknown> =>
      run(
        `follow ${refId} by ${sub} with ${String(copyLimit)} of ${String(types)}`,
        'mutation($refId: String!, $copyLimit: Int, $types: [String!]) { follow(refId: $refId, copyLimit: $copyLimit, types: $types) { refId } }',
        { refId, copyLimit, types },
        { sub },
      );
    await certainly(`${sub} ${refId}`, async () => (await change()) !== null);
  };
  const assign = async (): Promise<void> => {
    const pair = { followerId: reader(), refId: followable(), isAssigned: random.next() < 0.6 };
    const change = (): Promise<unknown> =>
      run(
        `followMany ${JSON.stringify(pair)}`,
        'mutation($pairs: [FollowInput!]!) { followMany(pairs: $pairs) }',
        { pairs: [pair] },
        SERVICE,
      );
    await certainly(`${pair.followerId} ${pair.refId}`, async () => (await change()) !== null);
  };
  const unfollow = async (): Promise<void> => {
    const [sub, refId, keepHistory] = [reader(), followable(), random.next() < 0.5];
    const change = (): Promise<unknown> =>
      run(
        `unfollow ${refId} by ${sub}, history kept: ${String(keepHistory)}`,
        'mutation($refId: String!, $keepHistory: Boolean) { unfollow(refId: $refId, keepHistory: $keepHistory) { refId } }',
        { refId, keepHistory },
        { sub },
      );
    await certainly(`${sub} ${refId}`, async () => (await change()) !== null);
  };
  const move = async (): Promise<void> => {
    const memberId = random.pick([...readers, ...publishers]);
    const member = {
      memberId,
      name: memberId,
      departmentId: random.pick([...departments, null]),
      teamId: random.pick([...teams, null]),
      supervisorId: random.pick([BOSS, null]),
    };
    await run(
      `member ${JSON.stringify(member)}`,
      'mutation($members: [MemberInput!]!) { upsertMembers(members: $members) }',
      { members: [member] },
      SERVICE,
    );
  };
  const rename = async (): Promise<void> => {
    const [refId, label] = [random.pick(sites), `Site ${String(random.below(1_000_000))}`];
    await run(
      `rename ${refId} to ${label}`,
      'mutation($refId: String!, $label: String!) { renameRef(refId: $refId, label: $label) { refId } }',
      { refId, label },
      SERVICE,
    );
  };
  const rebuild = async (): Promise<void> => {
    const memberId = reader();
    await run(
      `rebuild ${memberId}`,
      'mutation($memberId: String!) { rebuildFeed(memberId: $memberId) }',
      { memberId },
      ADMIN,
    );
  };
  /** Somebody publishes, and is erased while they still do. */
  const erase = async (): Promise<void> => {
    const memberId = temporary.pop() ?? `temporary-${String(random.below(1_000_000))}`;
    temporary.push(memberId);
    await publish(memberId);
    const erasing = run(
      `erase ${memberId}`,
      'mutation($memberId: String!) { eraseMember(memberId: $memberId) }',
      { memberId },
      ADMIN,
    );
    await Promise.all([erasing, publish(memberId)]);
    temporary.splice(0);
  };
  const shares: readonly (readonly [number, () => Promise<void>])[] = [
    [24, () => publish()],
    [2, publishMany],
    [20, interactions.interact],
    [4, interactions.takeBack],
    [4, interactions.moderate],
    [2, interactions.edit],
    [6, edit],
    [5, moderate],
    [4, show],
    [3, remove],
    [5, own.mark],
    [5, own.markItem],
    [8, own.hideItem],
    [7, follow],
    [6, unfollow],
    [3, assign],
    [7, own.mute],
    [6, own.snooze],
    [5, move],
    [2, rename],
    [2, rebuild],
    [1, erase],
  ];
  const total = shares.reduce((sum, [share]) => sum + share, 0);
  return {
    async once() {
      let left = random.next() * total;
      const chosen = shares.find(([share]) => (left -= share) < 0)?.[1];
      await (actions.length === 0 || chosen === undefined ? publish() : chosen());
    },
    async finish() {
      for (let tries = 0; tries < TRIES && unsure.size > 0; tries += 1)
        for (const [key, change] of [...unsure]) if (await change()) unsure.delete(key);
      if (unsure.size > 0) journal.faults.push(`never answered: ${[...unsure.keys()].join(', ')}`);
    },
  };
}

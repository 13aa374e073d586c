import type { SeededRandom } from '../../support/seeded-random.ts';
import type { As } from './call.ts';
import { PHRASES, soonOrMuchLater } from './publication.ts';
import type { Roster } from './world.ts';

export interface ReaderOperationsOptions {
  readonly roster: Roster;
  readonly random: SeededRandom;
  /** Does it and notes what came of it. */
  readonly run: (what: string, document: string, variables: object, as: As) => Promise<unknown>;
  /** One of the latest actions. */
  readonly target: () => { readonly id: string; readonly words: string };
}

/** What readers say of their own feeds. */
export function readerOperations({ roster, random, run, target }: ReaderOperationsOptions) {
  const { readers, publishers, sites } = roster;
  const reader = (): string => random.pick(readers);
  const mark = async (): Promise<void> => {
    const sub = reader();
    const upTo = new Date(Date.now() - random.below(20_000)).toISOString();
    await run(
      `mark read by ${sub} up to ${upTo}`,
      'mutation($upTo: DateTime!) { markFeedRead(upTo: $upTo) { unreadCount { count } } }',
      { upTo },
      { sub },
    );
  };
  const hideItem = async (): Promise<void> => {
    const [{ id, words }, sub] = [target(), reader()];
    const name = random.pick([
      ...['hideFeedItem', 'archiveFeedItem'].flatMap((one) => [one, one, one]),
      ...['unhideFeedItem', 'unarchiveFeedItem'].flatMap((one) => [one, one]),
    ]);
    await run(
      `${name} of ${words} by ${sub}`,
      `mutation($id: ID!) { ${name}(actionId: $id) { itemId } }`,
      { id },
      { sub },
    );
  };
  const markItem = async (): Promise<void> => {
    const [{ id, words }, sub] = [target(), reader()];
    const name = random.pick(['markItemsRead', 'markItemsUnread']);
    await run(
      `${name} ${words} by ${sub}`,
      `mutation($ids: [ID!]!) { ${name}(actionIds: $ids) { unreadCount { count } } }`,
      { ids: [id] },
      { sub },
    );
  };
  const snooze = async (): Promise<void> => {
    const [{ id, words }, sub] = [target(), reader()];
    if (random.next() < 0.3) {
      const document = 'mutation($id: ID!) { unsnoozeFeedItem(actionId: $id) { itemId } }';
      await run(`unsnooze ${words} by ${sub}`, document, { id }, { sub });
      return;
    }
    const until = soonOrMuchLater(random);
    await run(
      `snooze ${words} by ${sub} until ${until}`,
      'mutation($id: ID!, $until: DateTime!) { snoozeFeedItem(actionId: $id, until: $until) { itemId } }',
      { id, until },
      { sub },
    );
  };
  const mute = async (): Promise<void> => {
    const sub = reader();
    const target = random.pick([
      { refId: random.pick(sites) },
      { memberId: random.pick(publishers) },
      { phrase: random.pick(PHRASES) },
    ]);
    const words = JSON.stringify(target);
    if (random.next() < 0.5) {
      const document = 'mutation($target: MuteTargetInput!) { removeMute(target: $target) { memberId } }';
      await run(`no mute of ${words} by ${sub}`, document, { target }, { sub });
      return;
    }
    const until = random.next() < 0.7 ? soonOrMuchLater(random) : null;
    await run(
      `mute ${words} by ${sub} until ${String(until)}`,
      'mutation($target: MuteTargetInput!, $until: DateTime) { addMute(target: $target, until: $until) { memberId } }',
      { target, until },
      { sub },
    );
  };
  return { mark, markItem, hideItem, mute, snooze };
}
